// What records of TORCH_LOGS say, taken apart.
//
//   Recompiling function f in train.py:7                        recompiles
//       triggered by the following guard failure(s):
//       - 4/1: ___check_type_id(k, 10731296), type=<class 'int'>
//       - User stack trace:
//       -   File "train.py", line 60, in f
//       - 4/0: k == 1                                           before 2.4 without "4/0: "
//   ('Recompiling function f in train.py:7', "triggered by the following guard failure: k == 1")
//                                                               2.1
//   torch._dynamo hit config.recompile_limit (8)                (no artifact)
//      function: 'f' (train.py:7)
//      last reason: 4/0: k == 1
//   WON'T CONVERT f train.py line 7 torch._dynamo.config.suppress_errors due to: Traceback (most
//   recent call last): create_symbol s0 = 8 for L['x'].size()[0] [2, int_oo] train.py:9 in f (...),
//   for more info ... skipping cudagraphs due to cpu device (primals_1). Found from : ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::analyses::compile_text_logs {

// The function that a record is about.
struct FunctionText {
  std::string_view function, file;
  int32_t line = kNone32;
};

struct RecompileText {
  FunctionText code;
  std::vector<std::string> reasons;  // as artifact recompile_reasons has them, newest first
};
std::optional<RecompileText> ParseRecompile(std::string_view text);

// The limit of recompilations was reached.
struct LimitText {
  FunctionText code;
  int32_t limit = 0;
  std::string_view reason;  // the last
};
std::optional<LimitText> ParseLimit(std::string_view text);

// One step of the symbolic shapes; views into the text.
struct ShapeText {
  std::string_view kind;  // of table compile_shape
  std::string_view symbol, value, source, range, expression, result;
};
std::optional<ShapeText> ParseShape(std::string_view text);

// "Step 1: torchdynamo start tracing f train.py:7", "torchdynamo start compiling f train.py:7, ..."
std::optional<FunctionText> ParseStart(std::string_view text);

// An exception that was logged instead of raised; the function runs uncompiled.
struct SuppressedText {
  FunctionText code;
  std::string_view type, reason;  // of the exception; the reason may have two lines
  std::string_view user_file;     // where it failed
  int32_t user_line = kNone32;
  std::string_view text;  // all of it
};
std::optional<SuppressedText> ParseSuppressed(std::string_view text);

// Why no CUDA graph was recorded, in one line.
std::optional<std::string_view> ParseGraphSkip(std::string_view text);

// For how many sizes of inputs CUDA graphs were recorded, where PyTorch finds them too many; else
// 0.
int32_t ParseGraphSizes(std::string_view text);

// "Graph break in user code at ...", or of versions before 2.5 "Graph break: ... from user code
// at": the text of a break, in the form that ParseBreakText reads; empty when it is none.
std::string BreakTextOf(std::string_view text);

}  // namespace debrief::analyses::compile_text_logs
