// One piece of work in a process of its own: it may take long, run out of memory or break of what
// it reads, and can be ended at any time. The server itself has no thread, so that fork() is safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/bytes/unique_fd.h"
#include "base/status.h"
#include "mcp/protocol.h"

namespace debrief {

// What a command printed.
struct Captured {
  int code = 0;
  std::string out;
  std::string error;
};

// In a Child alone, whose stdout and stderr are files that nobody else sees.
Captured Capture(const std::function<int()>& command);

class Child {
 public:
  static Result<Child> Start(const std::function<mcp::Outcome()>& work);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child() { End(); }

  int fd() const { return pipe_.get(); }
  // Takes what can be read; true when there is nothing more to come.
  bool Read();
  // Waits for its end.
  mcp::Outcome Finish();
  // Kills it, if it still runs.
  void End();

 private:
  Child(UniqueFd pipe, pid_t process) : pipe_(std::move(pipe)), process_(process) {}
  int Wait();

  UniqueFd pipe_;
  pid_t process_ = -1;
  std::string answer_;
};

}  // namespace debrief
