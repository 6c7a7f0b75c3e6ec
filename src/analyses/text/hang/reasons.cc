// What an exception says in a headline: the inner one of a wrapper, without the path of its module.
//
//   torch._dynamo.exc.InternalTorchDynamoError: TypeError: unhashable    TypeError: unhashable
//   torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268,
//     unhandled system error ... Last error: Error while creating shm    NCCL error: Error while
//     ...
//   terminate called after throwing an instance of 'E'  what():  text    E: text
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analyses/text/hang/hang.h"
#include "base/text/clauses.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "model/headline.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr int kLongestChain = 16;  // of exceptions, one the cause of the other

// The row of the exception at `line` of the same input; `row` itself when there is none. Rows of an
// input follow each other in the order of its lines.
size_t ExceptionAtLine(const Model& model, size_t row, int64_t line) {
  const auto& events = model.tables.Get<TextEventTable>();
  const bool forward = line > events.line[row];
  for (size_t at = row; at < events.size() && events.input[at] == events.input[row];
       forward ? ++at : --at) {  // below 0 is beyond the end
    if (events.line[at] == line && model.pools.Text(events.kind[at]) == "traceback") return at;
    const bool passed = forward ? events.line[at] > line : events.line[at] < line;
    if (passed) break;
  }
  return row;
}

// "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: Error allocating device buffer: ..." of
// XLA without what only says that a call failed.
std::string StatusOfXla(std::string_view text) {
  constexpr std::string_view kOpen = "Bad StatusOr access: ";
  const size_t at = text.find(kOpen);
  return at == std::string_view::npos ? std::string() : std::string(text.substr(at + kOpen.size()));
}

// The name of an exception without its module: "OutOfMemoryError: text".
std::string_view WithoutModule(std::string_view text) {
  const size_t end = std::min(text.find_first_of(": ("), text.size());
  const size_t dot = text.substr(0, end).rfind('.');
  return dot == std::string_view::npos ? text : text.substr(dot + 1);
}

bool IsExceptionName(std::string_view text) {
  const size_t end = text.find(": ");
  if (end == std::string_view::npos || end == 0) return false;
  std::string_view name = WithoutModule(text).substr(0, text.find(": "));
  name = name.substr(0, name.find(':'));
  return name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Exit");
}

// "... got RuntimeError('a and b must have same reduction dim')" of a traced call.
std::string QuotedException(std::string_view text) {
  constexpr std::string_view kGot = ": got ";
  const size_t at = text.find(kGot);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + kGot.size());
  const size_t open = rest.find('(');
  const size_t close = rest.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 3)
    return {};
  std::string_view message = rest.substr(open + 1, close - open - 1);
  return fmt::format("{}: {}", rest.substr(0, open), Trimmed(message, "'\""));
}

// The exception inside of one of the compiler; empty when it has none.
std::string InsideCompilerError(std::string_view text) {
  constexpr std::string_view kWrappers[] = {"InternalTorchDynamoError", "InductorError",
                                            "LoweringException", "BackendCompilerFailed",
                                            "TorchRuntimeError"};
  std::string_view bare = WithoutModule(text);
  const bool wraps = std::any_of(std::begin(kWrappers), std::end(kWrappers),
                                 [&](std::string_view name) { return bare.starts_with(name); });
  const size_t colon = bare.find(": ");
  if (!wraps || colon == std::string_view::npos) return {};
  if (std::string quoted = QuotedException(bare); !quoted.empty()) return quoted;
  const std::string_view rest = bare.substr(colon + 2);
  if (!IsExceptionName(rest)) return {};
  const std::string inner = InsideCompilerError(rest);  // each wraps the next
  return inner.empty() ? std::string(WithoutModule(rest)) : inner;
}

// "terminate called after throwing an instance of 'std::runtime_error'  what():  text".
std::string ThrownInCpp(std::string_view text) {
  constexpr std::string_view kOpen = "terminate called after throwing an instance of '";
  constexpr std::string_view kWhat = "what():";
  if (!text.starts_with(kOpen)) return {};
  std::string_view name = text.substr(kOpen.size());
  name = name.substr(0, name.find('\''));
  const size_t what = text.find(kWhat);
  if (what == std::string_view::npos) return std::string(name);
  return fmt::format("{}: {}", name, Trimmed(text.substr(what + kWhat.size())));
}

// "RuntimeError: [enforce fail at alloc.cpp:12] err == 0. text" and "RuntimeError:
// /src/Register.cpp:934: text" without the place in PyTorch's own source; "RuntimeError: kernel,
// /tmp/cabc.cpp:23, text" without that in what Inductor wrote.
std::string WithoutNativePlace(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return std::string(text);
  const std::string_view name = text.substr(0, colon + 2), message = text.substr(colon + 2);
  size_t begin = 0;
  if (message.starts_with("[enforce fail at ")) {
    const size_t end = message.find(". ", std::min(message.find(']'), message.size()));
    begin = end == std::string_view::npos ? 0 : end + 2;
  } else if (message.starts_with("kernel, /")) {
    const size_t end = message.find(", ", message.find(".cpp:"));
    begin = end == std::string_view::npos ? 0 : end + 2;
  } else if (message.starts_with('/')) {
    const size_t end = message.find(": ");
    const std::string_view place = message.substr(0, end);
    if (end != std::string_view::npos && Contains(place, ".cpp:")) begin = end + 2;
  }
  // "Capture failed: [/pytorch/third_party/gloo/buffer.cc:133] Timed out"
  const size_t open = message.find("[/"), close = message.find("] ", open);
  const bool inside = open != std::string_view::npos && close != std::string_view::npos &&
                      Contains(message.substr(open, close - open), ".cc:");
  if (inside && begin == 0)
    return fmt::format("{}{}{}", name, message.substr(0, open), message.substr(close + 2));
  return fmt::format("{}{}", name, message.substr(begin));
}

// "OSError: [Errno 28] No space left on device" without the number.
std::string WithoutErrno(std::string text) {
  const size_t begin = text.find("[Errno ");
  const size_t end = text.find("] ", begin);
  if (begin != std::string::npos && end != std::string::npos) text.erase(begin, end + 2 - begin);
  return text;
}

// "DistNetworkError: The server socket has failed to listen on any local network address. port:
// 29500, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use": the point is
// the end.
std::string PortInUse(std::string_view text) {
  constexpr std::string_view kPort = "port: ";
  const size_t at = text.find(kPort);
  if (!Contains(text, "EADDRINUSE") || at == std::string_view::npos) return {};
  std::string_view port = text.substr(at + kPort.size());
  port = port.substr(0, std::min(port.find_first_not_of("0123456789"), port.size()));
  return fmt::format("{}: port {}: address already in use", text.substr(0, text.find(':')), port);
}

// "RuntimeError: Error(s) in loading state_dict for Net: size mismatch for ...": the list is the
// point.
std::string StateMismatch(std::string_view text) {
  constexpr std::string_view kOpen = "RuntimeError: Error(s) in loading state_dict for ";
  if (!text.starts_with(kOpen)) return {};
  const size_t list = text.find(": ", kOpen.size());
  return list == std::string_view::npos ? std::string()
                                        : fmt::format("RuntimeError{}", text.substr(list));
}

// What a native library prints last may stand behind a progress bar or the place of its source.
std::string_view LastWordsOf(std::string_view text) {
  constexpr std::string_view kOpenings[] = {"Memory access fault by GPU ",
                                            "HW Exception by GPU ",
                                            "failed assertion `",
                                            "guarantee(false && ",
                                            "An error occurred in MPI_",
                                            "Non-OK-status: ",
                                            "Check failed: ",
                                            "symbol lookup error: ",
                                            "Error response from daemon: "};
  for (const std::string_view opening : kOpenings) {
    if (const size_t at = text.find(opening); at != std::string_view::npos) return text.substr(at);
  }
  return {};
}

// What NCCL, or the runtime of another accelerator, printed below an exception that names a call.
std::string LastErrorInWords(std::string_view wrapper, std::string_view last) {
  for (const std::string_view library : {"NCCL", "HCCL"}) {
    if (Contains(wrapper, fmt::format("{} error", library)))
      return fmt::format("{} error: {}", library, last);
  }
  return std::string(last);
}

// "RuntimeError: NCCL error in: /src/ProcessGroupNCCL.cpp:784, unhandled cuda error, NCCL version
// 2.7.8" without the place in PyTorch's source and the version.
std::string NcclError(std::string_view text) {
  constexpr std::string_view kIn = "NCCL error in: ", kVersion = ", NCCL version";
  const size_t at = text.find(kIn), comma = text.find(", ", at);
  if (at == std::string_view::npos || comma == std::string_view::npos) return {};
  const std::string_view what = text.substr(comma + 2);
  return fmt::format("NCCL error: {}", what.substr(0, what.find(kVersion)));
}

// "(raylet) node_manager.cc:32: 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0
// Workers crashed ...".
std::string KilledByRay(std::string_view text) {
  constexpr std::string_view kKilled = " killed due to memory pressure (OOM)";
  const size_t at = text.find(kKilled);
  if (at == std::string_view::npos) return {};
  const size_t begin = text.rfind(": ", at);
  text = text.substr(0, at + kKilled.size());
  return std::string(begin == std::string_view::npos ? text : text.substr(begin + 2));
}

// "2026-11-15 10:00:00 - ERROR - text", "[ERROR] 2026-11-15 10:00:00 text", and
// "srun: error: text" without what a logger put in front.
std::string_view WithoutLogHead(std::string_view text) {
  constexpr size_t kLongestLogHead = 60;
  constexpr std::string_view kBetween = " ]|:-";
  if (const std::string_view last = LastWordsOf(text); !last.empty()) return last;
  for (const std::string_view head : {"slurmstepd: error: ", "srun: error: ", "sbatch: error: "}) {
    if (!text.starts_with(head)) continue;
    text.remove_prefix(head.size());
    constexpr std::string_view kPyxis = "pyxis: ";  // quotes the log of a container
    return text.starts_with(kPyxis) ? Trimmed(text.substr(kPyxis.size())) : text;
  }
  for (const std::string_view level : {"ERROR", "CRITICAL", "FATAL"}) {
    const size_t at = text.substr(0, kLongestLogHead).find(level);
    if (at == std::string_view::npos || (at > 0 && !Contains(" [|-", text.substr(at - 1, 1))))
      continue;
    std::string_view rest = text.substr(at + level.size());
    if (rest.empty() || !Contains(kBetween, rest.substr(0, 1))) continue;
    rest = rest.substr(std::min(rest.find_first_not_of(kBetween), rest.size()));
    const size_t stamped = rest.find_first_not_of("0123456789-:., /");
    const bool dated =
        rest.size() > 10 && IsDigit(rest[0]) && stamped != std::string_view::npos && stamped >= 10;
    return dated ? rest.substr(stamped) : rest;
  }
  return text;
}

}  // namespace

std::vector<std::string> WaysToSay(const std::string& reason) {
  const std::string bare = WithoutNativePlace(WithoutErrno(reason));
  return {reason, bare, WithShortPaths(bare)};
}

std::string_view WithoutPlainName(std::string_view reason) {
  for (const std::string_view name :
       {"RuntimeError: ", "AssertionError: ", "ValueError: ", "Exception: "}) {
    if (reason.starts_with(name)) return reason.substr(name.size());
  }
  return reason;
}

std::string CutReason(const std::string& reason, size_t width) {
  const size_t sentence = reason.rfind(". ", width);
  if (sentence != std::string::npos && sentence > width / 3) return reason.substr(0, sentence);
  return CutAtWord(reason, width);
}

size_t RootException(const Model& model, size_t row) {
  const auto& events = model.tables.Get<TextEventTable>();
  for (int i = 0; i < kLongestChain && events.cause_line[row] != kNone64; ++i) {
    const size_t inner = ExceptionAtLine(model, row, events.cause_line[row]);
    if (inner == row) break;
    row = inner;
  }
  return row;
}

std::string ExceptionInWords(std::string_view text) {
  constexpr std::string_view kLast = "\nLast error: ";
  if (const size_t last = text.find(kLast); last != std::string_view::npos)
    return LastErrorInWords(text.substr(0, last), FirstLine(text.substr(last + kLast.size())));
  // The watchdog saw what a kernel of this process did: "[PG ID 0 ... Rank 1] Process group ...".
  constexpr std::string_view kSeen = "watchdog thread terminated with exception: ";
  text = FirstLine(text);
  if (const size_t seen = text.find(kSeen); seen != std::string_view::npos)
    return std::string(text.substr(seen + kSeen.size()));
  if (std::string thrown = ThrownInCpp(text); !thrown.empty()) return thrown;
  if (std::string inner = InsideCompilerError(text); !inner.empty()) return inner;
  if (std::string error = NcclError(text); !error.empty()) return error;
  if (std::string status = StatusOfXla(text); !status.empty()) return status;
  if (std::string killed = KilledByRay(text); !killed.empty()) return killed;
  if (std::string port = PortInUse(WithoutModule(text)); !port.empty()) return port;
  if (std::string state = StateMismatch(text); !state.empty()) return state;
  if (!IsExceptionName(text)) return std::string(WithoutLogHead(text));
  text = WithoutModule(text);
  if (text.ends_with('.') && !text.ends_with("..")) text.remove_suffix(1);  // a place may follow
  return std::string(text);
}

std::string FitReason(const std::string& reason, size_t used) {
  constexpr size_t kFewest = 40;
  const size_t left = kLongestHeadline > used + kFewest ? kLongestHeadline - used : kFewest;
  // The key of a store says who did not come.
  if (Contains(reason, ", keys: ")) return reason;
  const std::vector<std::string> ways = WaysToSay(reason);
  const auto fits =
      std::ranges::find_if(ways, [&](const std::string& text) { return TextWidth(text) <= left; });
  return fits != ways.end() ? *fits : CutReason(std::string(WithoutPlainName(ways.back())), left);
}

}  // namespace debrief::analyses::text_hang
