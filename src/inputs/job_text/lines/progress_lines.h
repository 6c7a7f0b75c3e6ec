// Lines in which a training loop reports a step:
//
//   step 120 loss 2.31                                                        plain prints
//    45%|####5     | 450/1000 [01:23<01:42,  5.37it/s, loss=2.31]              tqdm, Lightning
//   {'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.32}    Hugging Face
//    iteration       10/     100 | elapsed time per iteration (ms): 512.3 | lm loss: 1.0E+01 |
//   step: 10  loss: 4.1  grad_norm: 1.2  tps: 7,104                           torchtitan
//   iter 0: loss 10.9894, time 3301.29ms, mfu -100.00%                         nanoGPT
//   step=10, skipped=0, lr=[6e-05], mom=[[0.9, 0.95]]                          DeepSpeed
//   [  60/1000] loss: 2.31                                                    many examples
//   {"step": 10, "train_loss": 2.3}                                            JSON lines
//   Engine 000: Avg prompt throughput: 9.1 tokens/s, Avg generation throughput: 5.3 tokens/s   vLLM
//   Decode batch, #running-req: 1, ..., gen throughput (token/s): 110.0, #queue-req: 0       SGLang
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct ProgressLine {
  int64_t step = kNone64;
  double epoch = kNoDouble;
  double loss = kNoDouble;
  bool not_finite = false;  // the loss
  bool has_loss = false;    // printed, finite or not
  double grad_norm = kNoDouble;
  double learning_rate = kNoDouble;
  double step_time_ms = kNoDouble;
  double throughput = kNoDouble;
  std::string_view throughput_unit;  // a constant
};

std::optional<ProgressLine> ParseProgress(std::string_view text);

}  // namespace debrief::inputs::job_text
