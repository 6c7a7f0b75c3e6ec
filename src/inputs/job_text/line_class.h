// What kind of line a line of output is, judged by itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::inputs::job_text {

enum class LineClass : uint8_t {
  kOther,            // nothing by itself, but it may be the exception that ends a traceback
  kTraceback,        // Traceback (most recent call last):
  kFrame,            //   File "train.py", line 52, in step
  kTorchLog,         // V1115 02:33:30.010000 425 torch/_dynamo/guards.py:1379] [5/0] text
  kWatchdogTimeout,  // Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, ...
  kWatchdogStatus,   // failure detected by watchdog at work sequence id: 8 PG status: ...
  kHeartbeatLost,
  kDumpSignal,
  kNcclError,
  kOutOfMemory,
  kSignal,
  kExit,
  kTeardown,
  kTerminate,      // terminate called after throwing an instance of 'c10::DistBackendError'
  kReason,         //   what():  ...
  kFailureField,   //   exitcode  : 13 (pid: 4711), of torchrun's list of failures
  kStackHeader,    // Stack trace of the failed collective:
  kStackFrame,     // #2 step from /home/user/train.py:57
  kCurrentThread,  // Current thread 0x00007f (most recent call first):
};

// `text` has no prefix and no colours.
LineClass Classify(std::string_view text);

bool IsOutOfMemory(std::string_view text);

// "ValueError: text", "torch.cuda.OutOfMemoryError: text", "KeyboardInterrupt".
bool LooksLikeException(std::string_view text);

}  // namespace debrief::inputs::job_text
