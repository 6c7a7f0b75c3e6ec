#include "inputs/job_text/line_class.h"

#include <algorithm>
#include <array>

#include "base/text/strings.h"
#include "inputs/job_text/compile_lines.h"
#include "inputs/job_text/fields.h"
#include "inputs/job_text/line_words.h"
#include "inputs/job_text/lines/device_details.h"
#include "inputs/job_text/lines/engine_lines.h"
#include "inputs/job_text/lines/exception_lines.h"
#include "inputs/job_text/lines/exits.h"
#include "inputs/job_text/lines/identities.h"
#include "inputs/job_text/lines/nccl_lines.h"
#include "inputs/job_text/lines/pod_lines.h"
#include "inputs/job_text/lines/replicas.h"
#include "inputs/job_text/word_filter.h"
#include "torch/driver_faults.h"

namespace debrief::inputs::job_text {

namespace {

const WordFilter& Words() {
  static const WordFilter kFilter = [] {
    WordFilter filter;
    filter.Add(kWords);
    filter.Add(kNcclErrors);
    return filter;
  }();
  return kFilter;
}

bool IsStoreError(std::string_view text) {
  constexpr std::string_view kSigns[] = {"store->get(",
                                         "wait timeout after ",
                                         "clients joined",
                                         "in store based barrier on rank",
                                         "client socket has timed out",
                                         "failed to connect to any network address",
                                         "RendezvousTimeoutError",
                                         "RendezvousClosedError",
                                         "RendezvousConnectionError",
                                         "onnection reset by peer",
                                         "Broken pipe",
                                         "failed to recv, got 0 bytes",
                                         "sendBytes failed",
                                         "DistNetworkError",
                                         "DistStoreError"};
  // Said at every normal end when the process with the store is gone a little earlier.
  if (Contains(text, "Failed to check the \"should dump\" flag")) return false;
  return ContainsAny(text, kSigns);
}

// What monitors of processes say of one that hangs (NVIDIA's resiliency extension).
bool IsStuck(std::string_view text) {
  constexpr std::string_view kSigns[] = {
      "Did not get initial heartbeat. Waited", "Did not get subsequent heartbeat. Waited",
      "has been open for", "Was out of section for", "Reaping worker_pid="};
  return ContainsAny(text, kSigns);
}

bool IsDeviceAssert(std::string_view text) {
  return Contains(text, "Assertion `") && Contains(text, "block: [") && Contains(text, "thread: [");
}

// Of shells: the whole line is the end of their child.
bool IsShellEnd(std::string_view text) {
  constexpr std::string_view kFirst = "KSABIF";
  constexpr size_t kLongest = 40;
  bool may_be = text.size() <= kLongest && kFirst.find(text[0]) != std::string_view::npos;
  if (!may_be) return false;
  auto exit = ParseExit(text);
  return exit && exit->said_by == "shell";
}

// Lines of launchers, schedulers and the kernel about the end of a process.
LineClass ClassOfExit(std::string_view text) {
  auto exit = ParseExit(text);
  if (!exit) return LineClass::kOther;
  if (exit->said_by == "kernel")
    return exit->exit_code == -11 ? LineClass::kSignal : LineClass::kOutOfMemory;
  if (exit->how == "stopped" && exit->said_by == "torchrun") return LineClass::kStopping;
  return exit->exit_code != kNone32 && exit->exit_code < 0 ? LineClass::kSignal : LineClass::kExit;
}

bool IsRestOfExit(std::string_view text) {
  constexpr std::string_view kOpen[] = {
      "signal ",         "Exit code:",  "=   KILLED BY SIGNAL", "=   EXIT CODE",
      "=   EXIT STATUS", "Errorcode: ", "with errorcode "};
  std::string_view trimmed = Trimmed(WithoutDate(text), " ");
  bool opens = std::any_of(std::begin(kOpen), std::end(kOpen),
                           [&](std::string_view word) { return trimmed.starts_with(word); });
  return opens && ParseRestOfExit(trimmed) != kNone32;
}

// A logger that only warns tells of what the program got over: "| WARNING | OOM: Ran out of memory
// with exception: CUDA out of memory ...".
bool IsWarned(std::string_view text) {
  constexpr size_t kLongestLogHead = 80;
  constexpr std::string_view kLevels[] = {"WARNING", "INFO", "DEBUG"};
  const std::string_view head = text.substr(0, kLongestLogHead);
  return std::any_of(std::begin(kLevels), std::end(kLevels), [&](std::string_view level) {
    const size_t at = head.find(level);
    if (at == std::string_view::npos) return false;
    const std::string_view rest = head.substr(at + level.size());
    const bool opens = at == 0 || Contains(" [|-", head.substr(at - 1, 1));
    return opens && !rest.empty() && Contains(" ]|-:", rest.substr(0, 1));
  });
}

bool IsNcclError(std::string_view text) { return ContainsAny(text, kNcclErrors); }

bool IsHeartbeatLost(std::string_view text) {
  constexpr std::string_view kLost[] = {"timed out", "got stuck", "ailed",
                                        "lost",      "Lost",      "missed"};
  bool about = Contains(text, "eartbeat") || Contains(text, "watchdog got stuck");
  // The stacks for a dump took too long: nothing is lost but them.
  if (Contains(text, "Future for Flight recorder dump")) return false;
  // Of an agent to its rendezvous: said at normal ends, when the first node is done a little
  // earlier.
  if (Contains(text, "keep-alive heartbeat")) return false;
  return about && ContainsAny(text, kLost);
}

// A program that says what it will do with a signal did not get one.
constexpr std::string_view kPlans[] = {"andler", "egister", "nstall", "gnoring", "isten"};

bool IsSignal(std::string_view text) {
  if (text.starts_with("Fatal Python error")) return true;
  if (ContainsAny(text, kPlans)) return false;
  constexpr std::string_view kSigns[] = {"Signals.SIG", "signal SIG", "by signal "};
  bool numbered = Contains(text, "Signal ") && Contains(text, "(SIG");
  return (numbered || ContainsAny(text, kSigns)) && ParseSignal(text) != kNone32;
}

// What a program prints when somebody tells it to end: "got signal 15, saving and leaving".
bool IsToldToEnd(std::string_view text) {
  constexpr std::string_view kSigns[] = {" got signal 15",  "Got signal 15", "eceived signal 15",
                                         "aught signal 15", " got SIGTERM",  "Got SIGTERM",
                                         "eceived SIGTERM", "aught SIGTERM"};
  return ContainsAny(text, kSigns) && !ContainsAny(text, kPlans);
}

// Prose speaks of exit codes, too. A report of one has a verb in front and nothing but a full stop
// or a parenthesis behind the number.
bool IsExit(std::string_view text) {
  if (ParseExitCode(text) == kNone32) return false;
  // Of a server about what followed from the end of another of its processes.
  if (Contains(text, "Child process unexpectedly failed")) return false;
  if (Contains(text, "exitcode")) return true;
  constexpr std::string_view kVerbs[] = {"xited", "erminated", "ailed", "inished", "eturned"};
  size_t at = std::min(text.find("exit code"), text.find("Exit code"));
  if (!ContainsAny(text.substr(0, at), kVerbs) && at != 0) return false;
  std::string_view rest = text.substr(std::min(text.find_first_of("0123456789", at), text.size()));
  rest = rest.substr(std::min(rest.find_first_not_of("0123456789"), rest.size()));
  return rest.empty() || rest[0] == '.' || rest[0] == ')' || rest[0] == ',' || rest[0] == ';' ||
         rest.starts_with(" (pid");
}

// "srun: error: node1: task 3: Segmentation fault"
LineClass ClassOfTask(std::string_view text) {
  if (ParseExitCode(text) != kNone32) return LineClass::kExit;
  if (IsOutOfMemory(text)) return LineClass::kOutOfMemory;
  if (ParseSignal(text) != kNone32) return LineClass::kSignal;
  // "srun: error: Unable to create step for job 7: More processors requested than permitted",
  // "srun: error: Task launch for StepId=7.0 failed on node n1: Job prolog failed"
  constexpr std::string_view kRefused[] = {"srun: error: Unable to ",
                                           "srun: error: Task launch for ",
                                           "srun: error: Application launch failed: "};
  const bool refused = std::ranges::any_of(
      kRefused, [&](std::string_view begin) { return text.starts_with(begin); });
  return refused ? LineClass::kNoStart : LineClass::kOther;
}

LineClass ClassOfWatchdog(std::string_view text) {
  constexpr std::string_view kDown[] = {"watchdog thread terminated", "entire process down",
                                        "erminating the process after"};
  // The watchdog saw a fault of this rank's GPU: that is no aftermath of another rank's end.
  bool faulty = Contains(text, "watchdog thread terminated") && Contains(text, "CUDA error: ");
  if (faulty) return LineClass::kCudaError;
  if (ContainsAny(text, kDown)) return LineClass::kTeardown;
  if (Contains(text, "Could not acquire GIL")) return LineClass::kGil;
  if (Contains(text, "are the lagging ranks")) return LineClass::kDesync;
  if (Contains(text, "failure detected by watchdog") || Contains(text, "Timeout at NCCL work:") ||
      Contains(text, "detected by watchdog at work: "))
    return LineClass::kWatchdogStatus;
  if (Contains(text, "Watchdog caught collective operation timeout"))
    return LineClass::kWatchdogTimeout;
  if (Contains(text, "Received a dump signal")) return LineClass::kDumpSignal;
  return IsHeartbeatLost(text) ? LineClass::kHeartbeatLost : LineClass::kOther;
}

LineClass ClassifyByWords(std::string_view text) {
  if (ParseReplica(text)) return LineClass::kReplica;
  if (ParseFailureField(text)) return LineClass::kFailureField;
  if (LineClass around = ClassOfTracebackLine(text); around != LineClass::kOther) return around;
  if (text.starts_with("  what():")) return LineClass::kReason;
  if (ParseDeviceDetail(text)) return LineClass::kDetail;
  if (ParseEngineLine(text)) return LineClass::kEngine;
  if (text.starts_with("terminate called after throwing"))
    return IsOutOfMemory(text) ? LineClass::kOutOfMemory : LineClass::kTerminate;
  if (text.starts_with("Current thread 0x")) return LineClass::kCurrentThread;
  if (Contains(text, "Stack trace of the failed collective")) return LineClass::kStackHeader;
  const bool whole = Contains(text, "exitcode");  // the entry stands in the same line
  if ((Contains(text, "Root Cause (first observed failure)") && !whole) || text == "Root Cause:")
    return LineClass::kRootCause;
  if (text.starts_with("Name:   ")) return LineClass::kPodName;
  if (IsRestOfExit(text)) return LineClass::kRestOfExit;
  if (PodEventOf(text) != PodEvent::kNone) return LineClass::kPodEvent;
  if (IsScheduler(text)) return LineClass::kScheduler;
  if (text.starts_with("srun: error")) return ClassOfTask(text);
  if (text.starts_with("sbatch: error: Batch job submission failed: ")) return LineClass::kNoStart;
  if (!TroubleOfPod(text).empty() || IsNoStartOfTool(text)) return LineClass::kNoStart;
  if (Contains(text, "NVRM: Xid") || Contains(text, "SXid (PCI")) return LineClass::kXid;
  if (DriverFaultOf(text)) return LineClass::kDriver;
  if (Contains(text, " blocked for more than ")) return LineClass::kBlocked;
  if (IsDeviceAssert(text)) return LineClass::kDeviceAssert;
  if (ParseIdentity(text)) return LineClass::kIdentity;
  if (MayBeNcclLine(text)) return ParseNcclLine(text) ? LineClass::kNccl : LineClass::kOther;
  if (text.starts_with('{') && Contains(text, "\"extraInfo\"")) return LineClass::kErrorFile;
  if (LineClass exit = ClassOfExit(text); exit != LineClass::kOther) return exit;
  if (IsStuck(text)) return LineClass::kStuck;
  if (Contains(text, "destroy_process_group() was not called")) return LineClass::kLeft;
  if (Contains(text, "failed to pass monitoredBarrier") && !LooksLikeException(text))
    return LineClass::kDesync;
  if (LineClass watchdog = ClassOfWatchdog(text); watchdog != LineClass::kOther) return watchdog;
  if (IsNcclError(text)) return LineClass::kNcclError;
  if (IsOutOfMemory(text)) return IsWarned(text) ? LineClass::kOther : LineClass::kOutOfMemory;
  if (Contains(text, "CUDA error: ")) return LineClass::kCudaError;
  if (IsStoreError(text)) return LineClass::kStoreError;
  if (IsSignal(text)) return LineClass::kSignal;
  if (IsAbortText(text)) return LineClass::kTerminate;
  if (IsNoStart(text)) return LineClass::kNoStart;
  if (IsExit(text)) return LineClass::kExit;
  return IsNormalEnd(text) ? LineClass::kNormalEnd : LineClass::kOther;
}

bool IsTorchLog(std::string_view text) {
  return ParseCompileLine(text).has_value() || ContinuesWarning(text);
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_' || c == '.';
}

}  // namespace

bool IsScheduler(std::string_view text) {
  constexpr std::string_view kSigns[] = {" CANCELLED AT ",
                                         "srun: error: Node failure on ",
                                         "DUE TO TIME LIMIT",
                                         "death signal, shutting down workers",
                                         "api.SignalException: Process ",
                                         "Main process received SIGTERM",
                                         "Received SIGTERM: 15",
                                         "PBS: job killed:",
                                         "TERM_RUNLIMIT",
                                         "TERM_MEMLIMIT",
                                         "TERM_OWNER",
                                         "has lost communication with a remote daemon",
                                         "because its node has died",
                                         "he job was preempted",
                                         "timeout: sending signal ",
                                         "slurmstepd: error: Exceeded job memory limit",
                                         "slurmstepd: error: Exceeded step memory limit"};
  constexpr std::string_view kPods[] = {"Evicted", "NodeNotReady", "Preempt"};
  // slurmstepd: error: Job 7 exceeded memory limit (67200000 > 67108864), being killed
  if (Contains(text, "exceeded memory limit") && Contains(text, "being killed")) return true;
  if (ContainsAny(text, kSigns) || IsToldToEnd(text)) return true;
  bool event = text.starts_with("Reason:") || Contains(text, "reason: ") ||
               Contains(text, "Warning  ") ||
               (Contains(text, "Normal  ") && Contains(text, "Preempt"));
  return event && ContainsAny(text, kPods);
}

bool IsOutOfMemory(std::string_view text) {
  constexpr std::string_view kSigns[] = {"OutOfMemoryError",
                                         "CUDA out of memory",
                                         "DefaultCPUAllocator",
                                         "std::bad_alloc",
                                         "oom-kill",
                                         "oom_kill event",
                                         "OOMKilled",
                                         "ut of memory: Killed",
                                         "CUDA error: out of memory",
                                         "HIP out of memory",
                                         "killed due to memory pressure (OOM)",
                                         "Out Of Memory"};
  return ContainsAny(text, kSigns);
}

LineClass Classify(std::string_view text) {
  if (text.empty()) return LineClass::kOther;
  if (MayBeFrame(text) && ParseFrame(text)) return LineClass::kFrame;
  if (text[0] == '#' && ParseStackFrame(text)) return LineClass::kStackFrame;
  if (IsTorchLog(text)) return LineClass::kTorchLog;
  if (IsShellEnd(text)) return LineClass::kSignal;
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
