// Stacks of Python processes as tools print them: faulthandler, torch.distributed.debug, py-spy,
// pystack, gdb. Also where they stand between the lines of an ordinary output.
//
//   Timeout (0:00:16)!                                           a dump begins
//   Thread 0x00007ff71aab3140 (most recent call first):          a thread
//     File "/home/me/train.py", line 41 in write_shard           a frame, innermost first
//
//   StackTextParser parser([&](ThreadStack&& stack) { ... });
//   for (...) parser.Add(line, number);                          // false: no line of a stack
//   parser.Finish();
//
// The threads of a process are held back until its dump ends: only then is it known which one is
// the main thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

struct StackFrame {
  std::string file;  // or the library of a native frame
  std::string function;
  int32_t line = 0;  // 0: not told

  bool operator==(const StackFrame&) const = default;
};

struct ThreadStack {
  int64_t line = 0;        // of its header, from 1
  int32_t dump = 0;        // number of the dump in its text, from 0
  int32_t rank = kNone32;  // as a line above it says
  int64_t pid = kNone64;
  std::string host;
  std::string thread;            // as written: 0x00007ff71aab3140, 4711
  std::string name;              // MainThread, pt_autograd_0
  std::string state;             // idle, active, active+gil, current
  std::string_view source = {};  // faulthandler, torch_debug, py_spy, pystack, gdb
  std::string reason;            // what made it print: Timeout (0:00:16)!, Fatal Python error: ...
  std::string error;             // what came instead of a stack: 408
  bool is_main = false;
  bool is_child = false;           // of a process that the rank's process started
  std::vector<StackFrame> frames;  // innermost first
};

class StackTextParser {
 public:
  // A hostile text must not make us hold more than this of one process.
  static constexpr size_t kMostThreads = 4096;
  static constexpr size_t kMostFrames = 1024;

  explicit StackTextParser(std::function<void(ThreadStack&&)> on_stack)
      : on_stack_(std::move(on_stack)) {}

  // The next line, without its end. False when it is no line of a stack; such a line ends the
  // thread before it.
  bool Add(std::string_view line, int64_t number);
  void Finish();

  // A line of somebody's own, "=== rank 3 ===", above the stacks of that rank.
  void SetRank(int32_t rank);

  size_t threads_seen() const { return threads_seen_; }

 private:
  enum class Open : uint8_t { kNothing, kFaulthandler, kPySpy, kPystack, kGdb };

  struct Process {
    int32_t heading = kNone32;  // rank that a line above it tells
    int32_t rank = kNone32;
    int64_t pid = kNone64;
    std::string host;
    std::string_view source = {};
    std::string reason;
    bool is_child = false;
    bool is_asked = false;  // the debug server asked it
  };

  bool AddProcessLine(std::string_view line, int64_t number);
  bool AddThreadHeader(std::string_view line, int64_t number);
  bool AddFrameLine(std::string_view line);
  void BeginProcess(Process process);
  void BeginThread(Open open, std::string_view thread, int64_t number);
  void AddFrame(StackFrame frame);
  void EndThread();
  void EndProcess();
  void AddError(std::string_view code, int64_t number);

  std::function<void(ThreadStack&&)> on_stack_;
  Process process_;
  std::vector<ThreadStack> threads_;  // of the process
  ThreadStack thread_;                // the open one
  Open open_ = Open::kNothing;
  int32_t dump_ = 0;
  size_t threads_seen_ = 0;
};

}  // namespace debrief
