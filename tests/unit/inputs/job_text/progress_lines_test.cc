// Steps as trainers print them.
#include "inputs/job_text/lines/progress_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "tables/progress.h"
#include "unit/inputs/input_helpers.h"

namespace debrief::inputs::job_text {
namespace progress_lines_test {

ProgressLine Read(std::string_view text) {
  auto line = ParseProgress(text);
  EXPECT_TRUE(line) << text;
  return line.value_or(ProgressLine{});
}

TEST(ProgressLines, PlainPrints) {
  ProgressLine line = Read("step 120 loss 2.31");
  EXPECT_EQ(line.step, 120);
  EXPECT_EQ(line.loss, 2.31);
  EXPECT_EQ(Read("step 0").step, 0);
  EXPECT_EQ(Read("Epoch 3 Step: 12 Loss: 1.5e-2").loss, 0.015);
  line = Read("step    6 | loss 0.5000 | 512.4 ms/step");
  EXPECT_EQ(line.step, 6);
}

TEST(ProgressLines, Bars) {
  ProgressLine line = Read(" 45%|####5     | 450/1000 [01:23<01:42,  5.37it/s, loss=2.31]");
  EXPECT_EQ(line.step, 450);
  EXPECT_EQ(line.loss, 2.31);
  EXPECT_EQ(line.throughput, 5.37);
  EXPECT_EQ(line.throughput_unit, "steps/s");
  EXPECT_EQ(Read("  1%|          | 1/100 [00:04<06:36,  4.00s/it]").throughput, 0.25);
  line = Read("Epoch 2:  10%|# | 10/100 [00:01<00:10, 9.0it/s, v_num=0, train_loss=0.30]");
  EXPECT_EQ(line.epoch, 2);
  EXPECT_EQ(line.loss, 0.3);
}

TEST(ProgressLines, Trainers) {
  ProgressLine line =
      Read("{'loss': 2.31, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.32}");
  EXPECT_EQ(line.loss, 2.31);
  EXPECT_EQ(line.grad_norm, 1.25);
  EXPECT_EQ(line.learning_rate, 5e-05);
  EXPECT_EQ(line.epoch, 0.32);
  line = Read(
      " [2026-11-15 23:22:09.123456] iteration       10/     100 | consumed samples:         1280 "
      "| "
      "elapsed time per iteration (ms): 512.3 | learning rate: 1.0E-4 | lm loss: 1.05E+01 | grad "
      "norm: 1.500 | number of nan iterations:   0 |");
  EXPECT_EQ(line.step, 10);
  EXPECT_EQ(line.loss, 10.5);
  EXPECT_EQ(line.grad_norm, 1.5);
  EXPECT_EQ(line.step_time_ms, 512.3);
  EXPECT_EQ(line.learning_rate, 1e-4);
  line = Read("step: 10  loss:  4.1  grad_norm:  1.2  memory:  9.5GiB(12%)  tps: 7,104  mfu: 9%");
  EXPECT_EQ(line.step, 10);
  EXPECT_EQ(line.throughput, 7104);
  EXPECT_EQ(line.throughput_unit, "tokens/s");
  line = Read("iter 5: loss 10.9894, time 3301.29ms, mfu -100.00%");
  EXPECT_EQ(line.step, 5);
  EXPECT_EQ(line.step_time_ms, 3301.29);
  line = Read(
      "[2026-11-15 23:22:09,590] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, "
      "lr=[6e-05], mom=[[0.9, 0.95]]");
  EXPECT_EQ(line.step, 10);
  EXPECT_EQ(line.learning_rate, 6e-05);
  line = Read(R"({"step": 10, "train/loss": 2.5, "eval_loss": 9})");
  EXPECT_EQ(line.step, 10);
  EXPECT_EQ(line.loss, 2.5);
}

TEST(ProgressLines, LossThatIsNotFinite) {
  for (std::string_view text : {"step 7 loss nan", "step=7 loss=-inf", "{'loss': nan, 'epoch': 1}",
                                "step 7: loss tensor(nan, device='cuda:0')"}) {
    ProgressLine line = Read(text);
    EXPECT_TRUE(line.not_finite) << text;
    EXPECT_TRUE(std::isnan(line.loss)) << text;
  }
  EXPECT_FALSE(Read("step 7 loss 1.0 grad_norm inf").not_finite) << "a step that was skipped";
}

TEST(ProgressLines, OtherLinesAreNone) {
  for (std::string_view text :
       {"the loss of this job is great", "in step 3 of the guide, install the package first",
        "Saving checkpoint of iteration to disk", "loss function: cross entropy",
        "vm:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 2[0]", "", "step", "s/it", "loss: "}) {
    EXPECT_FALSE(ParseProgress(text)) << text;
  }
}

// Two ranks that alternate, for long: each keeps its curve to the end, and what was not finite.
TEST(ProgressLines, LongTextsAreThinnedOut) {
  std::string text;
  constexpr int64_t kSteps = 60'000;
  for (int64_t step = 0; step < kSteps; ++step) {
    for (const char* rank : {"0", "1"})
      text += std::string("[rank") + rank + "]: step " + std::to_string(step) + " loss " +
              (step == 1001 ? "nan" : "2.5") + "\n";
  }
  const Part part = testing::ImportBytes("job_text", text, 1 << 20);
  const auto& rows = part.tables.Get<ProgressTable>();
  std::map<int32_t, size_t> count, not_finite;
  std::map<int32_t, int64_t> last;
  for (size_t i = 0; i < rows.size(); ++i) {
    ++count[rows.rank[i]];
    not_finite[rows.rank[i]] += rows.not_finite[i];
    last[rows.rank[i]] = rows.step[i];
  }
  EXPECT_LE(rows.size(), size_t{1} << 15);
  for (int32_t rank : {0, 1}) {
    EXPECT_GE(count[rank], size_t{1} << 12);
    EXPECT_EQ(not_finite[rank], 1u);
    EXPECT_EQ(last[rank], kSteps - 1);
  }
}

}  // namespace progress_lines_test
}  // namespace debrief::inputs::job_text
