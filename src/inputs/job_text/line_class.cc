#include "inputs/job_text/line_class.h"

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/word_filter.h"

namespace debrief::inputs::job_text {

namespace {

// At least one of these is in every line that ClassifyByWords() gives a class.
constexpr std::string_view kWords[] = {"Traceback (most recent",
                                       "atchdog",
                                       "eartbeat",
                                       "dump signal",
                                       "NCCL WARN",
                                       "NCCL work",
                                       "NCCL error",
                                       "ncclSystemError",
                                       "ncclRemoteError",
                                       "ncclInternalError",
                                       "ncclUnhandled",
                                       "ncclInvalid",
                                       "unhandled cuda error",
                                       "unhandled system",
                                       "ut of memory",
                                       "OutOfMemoryError",
                                       "DefaultCPUAllocator",
                                       "bad_alloc",
                                       "oom-kill",
                                       "oom_kill",
                                       "OOMKilled",
                                       "Fatal Python error",
                                       "Signal ",
                                       "Signals.SIG",
                                       "signal SIG",
                                       "by signal",
                                       "exitcode",
                                       "exit code",
                                       "srun: error",
                                       "entire process down",
                                       "erminating the process",
                                       "terminate called after",
                                       "what():",
                                       "rank      :",
                                       "host      :",
                                       "time      :",
                                       "error_file:",
                                       "traceback :",
                                       "Stack trace of the failed",
                                       "Current thread 0x"};

const WordFilter& Words() {
  static const WordFilter kFilter(kWords);
  return kFilter;
}

template <size_t kCount>
bool HasAny(std::string_view text, const std::string_view (&words)[kCount]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return Contains(text, word); });
}

bool IsNcclError(std::string_view text) {
  constexpr std::string_view kSigns[] = {
      "NCCL WARN",       "NCCL error",           "ncclSystemError",
      "ncclRemoteError", "ncclInternalError",    "ncclUnhandled",
      "ncclInvalid",     "unhandled cuda error", "unhandled system error"};
  return HasAny(text, kSigns);
}

bool IsHeartbeatLost(std::string_view text) {
  constexpr std::string_view kLost[] = {"timed out", "got stuck", "ailed",
                                        "lost",      "Lost",      "missed"};
  bool about = Contains(text, "eartbeat") || Contains(text, "watchdog got stuck");
  return about && HasAny(text, kLost);
}

bool IsSignal(std::string_view text) {
  if (text.starts_with("Fatal Python error")) return true;
  constexpr std::string_view kSigns[] = {"Signals.SIG", "signal SIG", "by signal "};
  bool numbered = Contains(text, "Signal ") && Contains(text, "(SIG");
  return (numbered || HasAny(text, kSigns)) && ParseSignal(text) != kNone32;
}

// Prose speaks of exit codes, too. A report of one has a verb in front and nothing but a full stop
// or a parenthesis behind the number.
bool IsExit(std::string_view text) {
  if (ParseExitCode(text) == kNone32) return false;
  if (Contains(text, "exitcode")) return true;
  constexpr std::string_view kVerbs[] = {"xited", "erminated", "ailed", "inished", "eturned"};
  size_t at = std::min(text.find("exit code"), text.find("Exit code"));
  if (!HasAny(text.substr(0, at), kVerbs) && at != 0) return false;
  std::string_view rest = text.substr(std::min(text.find_first_of("0123456789", at), text.size()));
  rest = rest.substr(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  return rest.empty() || rest[0] == '.' || rest[0] == ')' || rest[0] == ',' || rest[0] == ';' ||
         rest.starts_with(" (pid");
}

// "srun: error: node1: task 3: Segmentation fault"
LineClass ClassOfTask(std::string_view text) {
  if (ParseExitCode(text) != kNone32) return LineClass::kExit;
  if (IsOutOfMemory(text)) return LineClass::kOutOfMemory;
  return ParseSignal(text) != kNone32 ? LineClass::kSignal : LineClass::kOther;
}

LineClass ClassOfWatchdog(std::string_view text) {
  constexpr std::string_view kDown[] = {"watchdog thread terminated", "entire process down",
                                        "erminating the process"};
  if (HasAny(text, kDown)) return LineClass::kTeardown;
  if (Contains(text, "failure detected by watchdog") || Contains(text, "Timeout at NCCL work:"))
    return LineClass::kWatchdogStatus;
  if (Contains(text, "Watchdog caught collective operation timeout"))
    return LineClass::kWatchdogTimeout;
  if (Contains(text, "Received a dump signal")) return LineClass::kDumpSignal;
  return IsHeartbeatLost(text) ? LineClass::kHeartbeatLost : LineClass::kOther;
}

LineClass ClassifyByWords(std::string_view text) {
  if (text.ends_with("Traceback (most recent call last):")) return LineClass::kTraceback;
  if (text.starts_with("  what():")) return LineClass::kReason;
  if (text.starts_with("terminate called after throwing"))
    return IsOutOfMemory(text) ? LineClass::kOutOfMemory : LineClass::kTerminate;
  if (text.starts_with("Current thread 0x")) return LineClass::kCurrentThread;
  if (Contains(text, "Stack trace of the failed collective")) return LineClass::kStackHeader;
  if (ParseFailureField(text)) return LineClass::kFailureField;
  if (text.starts_with("srun: error")) return ClassOfTask(text);
  if (LineClass watchdog = ClassOfWatchdog(text); watchdog != LineClass::kOther) return watchdog;
  if (IsNcclError(text)) return LineClass::kNcclError;
  if (IsOutOfMemory(text)) return LineClass::kOutOfMemory;
  if (IsSignal(text)) return LineClass::kSignal;
  return IsExit(text) ? LineClass::kExit : LineClass::kOther;
}

bool IsTorchLog(std::string_view text) {
  bool may_be = text.size() > 20 && text[5] == ' ' && text[8] == ':';
  if (!may_be) return false;
  auto header = ParseLogHeader(text);
  return header && ParseCompileMessage(header->message);
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '.';
}

}  // namespace

bool IsOutOfMemory(std::string_view text) {
  constexpr std::string_view kSigns[] = {"OutOfMemoryError",
                                         "CUDA out of memory",
                                         "DefaultCPUAllocator",
                                         "std::bad_alloc",
                                         "oom-kill",
                                         "oom_kill",
                                         "OOMKilled",
                                         "Out of memory: Killed",
                                         "CUDA error: out of memory",
                                         "HIP out of memory",
                                         "Out Of Memory"};
  return HasAny(text, kSigns);
}

LineClass Classify(std::string_view text) {
  if (text.empty()) return LineClass::kOther;
  if (text.starts_with("  File \"") && ParseFrame(text)) return LineClass::kFrame;
  if (text[0] == '#' && ParseStackFrame(text)) return LineClass::kStackFrame;
  if (IsTorchLog(text)) return LineClass::kTorchLog;
  return Words().MayHave(text) ? ClassifyByWords(text) : LineClass::kOther;
}

bool LooksLikeException(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && IsNameByte(text[size])) ++size;
  std::string_view rest = text.substr(size);
  bool ends = rest.empty() || rest == ":" || rest.starts_with(": ");
  if (size == 0 || !ends) return false;
  std::string_view name = text.substr(0, size);
  size_t dot = name.rfind('.');
  char first = name[dot + 1 < size ? dot + 1 : 0];  // npos + 1 is 0
  return name[0] != '.' && (first < '0' || first > '9') &&
         (dot != std::string_view::npos || (first >= 'A' && first <= 'Z'));
}

}  // namespace debrief::inputs::job_text
