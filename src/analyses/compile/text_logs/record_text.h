// What records of TORCH_LOGS say, taken apart.
//
//   Recompiling function f in train.py:7                        recompiles
//       triggered by the following guard failure(s):
//       - 4/1: ___check_type_id(k, 10731296), type=<class 'int'>
//       - User stack trace:
//       -   File "train.py", line 60, in f
//       - 4/0: k == 1
//   torch._dynamo hit config.recompile_limit (8)                (no artifact)
//      function: 'f' (train.py:7)
//      last reason: 4/0: k == 1
//   create_symbol s0 = 8 for L['x'].size()[0] [2, int_oo] train.py:9 in f (...), for more info ...
//   skipping cudagraphs due to cpu device (primals_1). Found from : ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::analyses::compile_text_logs {

struct RecompileText {
  std::string_view function, file;
  int32_t line = kNone32;
  std::vector<std::string> reasons;  // as artifact recompile_reasons has them, newest first
};
std::optional<RecompileText> ParseRecompile(std::string_view text);

// The limit of recompilations was reached.
struct LimitText {
  std::string_view function, file;
  int32_t line = kNone32;
  std::string_view reason;  // the last
};
std::optional<LimitText> ParseLimit(std::string_view text);

// One step of the symbolic shapes; views into the text.
struct ShapeText {
  std::string_view kind;  // of table compile_shape
  std::string_view symbol, value, source, range, expression, result;
};
std::optional<ShapeText> ParseShape(std::string_view text);

// Why no CUDA graph was recorded, in one line.
std::optional<std::string_view> ParseGraphSkip(std::string_view text);

// "Graph break in user code at ...": the text of a break, in the form that ParseBreakText reads;
// empty when it is none.
std::string BreakTextOf(std::string_view text);

}  // namespace debrief::analyses::compile_text_logs
