#include "torch/stacks/stack_text.h"

#include <algorithm>

#include "base/text/strings.h"
#include "torch/stacks/stack_lines.h"

namespace debrief {

using stack_lines::Between;
using stack_lines::LeadingNumber;

namespace {

constexpr std::string_view kCallFirst = " (most recent call first):";
constexpr std::string_view kCallLast = " (most recent call last):";
constexpr size_t kLongestText = 500;  // of a reason, as faulthandler cuts names

// A thread that somebody started begins in threading.py; the main thread begins with the program.
bool BeginsAsThread(const ThreadStack& thread) {
  if (thread.frames.empty()) return true;
  return thread.frames.back().function.starts_with("_bootstrap");
}

// By name; else the last thread that runs the program's module, as faulthandler prints it; else
// (deep stacks are cut at their outer end) the last that nobody started.
size_t FindMain(const std::vector<ThreadStack>& threads) {
  auto last = [&](auto&& is_main) {
    auto found = std::find_if(threads.rbegin(), threads.rend(), is_main);
    return found == threads.rend() ? threads.size()
                                   : static_cast<size_t>(threads.rend() - found) - 1;
  };
  size_t main = last([](const ThreadStack& t) { return t.name == "MainThread"; });
  if (main == threads.size()) {
    main = last([](const ThreadStack& t) {
      return !t.frames.empty() && (t.frames.back().function == "<module>" ||
                                   t.frames.back().function == "_run_module_as_main");
    });
  }
  if (main == threads.size()) main = last([](const ThreadStack& t) { return !BeginsAsThread(t); });
  return main;
}

}  // namespace

void StackTextParser::SetRank(int32_t rank) {
  EndProcess();
  process_ = {.heading = rank, .rank = rank};
}

void StackTextParser::BeginProcess(Process process) {
  EndProcess();
  process_ = std::move(process);
}

void StackTextParser::EndThread() {
  if (open_ == Open::kNothing) return;
  // pystack prints the innermost frame last.
  if (open_ == Open::kPystack) std::reverse(thread_.frames.begin(), thread_.frames.end());
  open_ = Open::kNothing;
  threads_.push_back(std::move(thread_));
  thread_ = {};
  if (threads_.size() >= kMostThreads) EndProcess();
}

void StackTextParser::EndProcess() {
  EndThread();
  if (threads_.empty()) return;
  size_t main = FindMain(threads_);
  if (main < threads_.size()) threads_[main].is_main = true;
  for (ThreadStack& thread : threads_) on_stack_(std::move(thread));
  threads_.clear();
  ++dump_;
}

void StackTextParser::Finish() {
  EndProcess();
  process_ = {};
}

void StackTextParser::BeginThread(Open open, std::string_view thread, int64_t number) {
  EndThread();
  // A thread comes once in a dump: its second block begins the next one.
  bool seen = std::any_of(threads_.begin(), threads_.end(), [&](const ThreadStack& each) {
    return !thread.empty() && each.thread == thread;
  });
  if (seen) EndProcess();
  static constexpr std::string_view kSources[] = {"", "faulthandler", "py_spy", "pystack", "gdb"};
  open_ = open;
  ++threads_seen_;
  thread_ = {};
  thread_.line = number;
  thread_.dump = dump_;
  thread_.rank = process_.rank;
  thread_.pid = process_.pid;
  thread_.host = process_.host;
  thread_.reason = process_.reason;
  thread_.is_child = process_.is_child;
  thread_.thread = thread;
  thread_.source = process_.source.empty() ? kSources[static_cast<size_t>(open)] : process_.source;
}

void StackTextParser::AddError(std::string_view code, int64_t number) {
  BeginThread(Open::kFaulthandler, "", number);
  thread_.error = code.substr(0, kLongestText);
  EndThread();
}

bool StackTextParser::AddProcessLine(std::string_view line, int64_t number) {
  if (auto header = stack_lines::ParseRankHeader(line)) {
    BeginProcess({.heading = header->rank,
                  .rank = header->rank,
                  .host = std::string(header->host),
                  .source = header->handler == "pyspy_dump" ? "py_spy" : "torch_debug",
                  .is_asked = true});
    return true;
  }
  if (process_.is_asked && line.starts_with("Error: ")) {
    AddError(line.substr(7), number);
    return true;
  }
  if (line.starts_with("PARTIAL DATA: ") || line.starts_with("Extension modules: ")) return true;
  if ((line.starts_with("Timeout (") && line.ends_with(")!")) ||
      line.starts_with("Fatal Python error: ")) {
    Process process = process_;
    process.reason = line.substr(0, kLongestText);
    BeginProcess(std::move(process));
    return true;
  }
  if (auto pid = Between(line, "Process ", ": "); pid && LeadingNumber(*pid)) {
    Process process = {.heading = process_.heading, .pid = *LeadingNumber(*pid)};
    process.host = process_.host;
    // Of several processes below one heading the first is the rank's.
    bool is_first = process_.heading != kNone32 && process_.pid == kNone64;
    process.rank = is_first ? process_.heading : stack_lines::RankOfCommand(line);
    BeginProcess(std::move(process));
    return true;
  }
  if (line.starts_with("Parent Process ") && process_.pid != kNone64) {
    process_.is_child = true;
    if (process_.heading != kNone32) process_.rank = process_.heading;
    return true;
  }
  return line.starts_with("Python v") && process_.pid != kNone64;
}

bool StackTextParser::AddThreadHeader(std::string_view line, int64_t number) {
  if (line.ends_with(kCallFirst)) {
    EndThread();
    bool current = line.starts_with("Current thread 0x");
    if (line.starts_with("Current thread's C stack trace")) return true;  // symbols of C alone
    if (!current && !line.starts_with("Thread 0x") && !line.starts_with("Stack ")) return false;
    std::string_view id = line.substr(std::min(line.find("0x"), line.size()));
    BeginThread(Open::kFaulthandler, id.substr(0, id.find(' ')), number);
    if (auto name = Between(line.substr(std::min(line.find('['), line.size())), "[", "]"))
      thread_.name = *name;
    if (current) thread_.state = "current";
    return true;
  }
  if (line.starts_with("Traceback for thread ") && line.ends_with(kCallLast)) {
    std::string_view rest = line.substr(21);
    BeginThread(Open::kPystack, rest.substr(0, rest.find(' ')), number);
    size_t open = rest.find(" (");
    if (auto name = Between(rest.substr(std::min(open, rest.size())), " (", ")");
        name && *name != kCallLast.substr(2, kCallLast.size() - 4))
      thread_.name = *name;
    if (Contains(rest, "Has the GIL")) thread_.state = "active+gil";
    return true;
  }
  if (!line.starts_with("Thread ")) return false;
  std::string_view id = line.substr(7, line.find(' ', 7) - 7);
  if (!LeadingNumber(id) && !id.starts_with("0x")) return false;
  auto state = Between(line.substr(std::min(line.find(" ("), line.size())), " (", ")");
  if (!state) return false;
  if (size_t lwp = line.find("(LWP "); lwp != std::string_view::npos || line.ends_with("):")) {
    if (lwp == std::string_view::npos) return false;
    std::optional<int64_t> tid = LeadingNumber(line.substr(lwp + 5));
    BeginThread(Open::kGdb, tid ? std::to_string(*tid) : "", number);
    if (id == "1") thread_.name = "MainThread";  // gdb numbers threads from the first on
    return true;
  }
  if (*state != "idle" && !state->starts_with("active")) return false;
  BeginThread(Open::kPySpy, id, number);
  thread_.state = *state;
  if (auto name = Between(line.substr(std::min(line.find(": \""), line.size())), ": \"", "\""))
    thread_.name = *name;
  return true;
}

void StackTextParser::AddFrame(StackFrame frame) {
  if (thread_.frames.size() < kMostFrames) thread_.frames.push_back(std::move(frame));
}

bool StackTextParser::AddFrameLine(std::string_view line) {
  switch (open_) {
    case Open::kNothing:
      return false;
    case Open::kFaulthandler:
      if (auto frame = stack_lines::ParseFileFrame(line)) {
        AddFrame(*std::move(frame));
        return true;
      }
      if (line.starts_with("  Garbage-collecting")) AddFrame({"gc", "Garbage-collecting", 0});
      return stack_lines::IsFrameRemark(line);
    case Open::kPySpy:
      if (line.starts_with("        ")) return true;  // values of variables
      if (auto frame = stack_lines::ParsePySpyFrame(line)) {
        AddFrame(*std::move(frame));
        return true;
      }
      return line.starts_with("    ");
    case Open::kPystack:
      if (auto frame = stack_lines::ParsePystackFrame(line)) {
        AddFrame(*std::move(frame));
        return true;
      }
      return line.starts_with("        ");  // the line of source
    case Open::kGdb:
      if (auto frame = stack_lines::ParseGdbFrame(line)) {
        AddFrame(*std::move(frame));
        return true;
      }
      return line.starts_with("    ");
  }
  return false;
}

bool StackTextParser::Add(std::string_view line, int64_t number) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) {
    EndThread();
    return false;
  }
  if (AddFrameLine(line)) return true;
  if (line.starts_with("  Binary file \"")) return true;  // of the C stack behind a crash
  // Every other line of a stack begins with one of these; most lines of an output do not.
  static constexpr std::string_view kBegins = "=EPTFCSp";
  bool mine = kBegins.find(line[0]) != std::string_view::npos &&
              (AddThreadHeader(line, number) || AddProcessLine(line, number));
  if (!mine) EndThread();
  return mine;
}

}  // namespace debrief
