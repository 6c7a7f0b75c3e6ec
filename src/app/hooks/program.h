// Command lines of hooks: what stands in their places, and the processes that run them.
//
//   aws s3 cp --recursive {url} {out}
//
// A command line is run by /bin/sh. What it gets from debrief never becomes part of its text: a
// place becomes "$DEBRIEF_URL", and the value travels in the environment, so no address can end a
// word or start another program. A place inside quotes of the template is refused, since the quotes
// around the variable would close them.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

using HookValues = std::map<std::string, std::string>;  // {name} -> value

// The template with "$DEBRIEF_<NAME>" in the places of `values`; kUsage when a place is unknown or
// stands inside quotes.
Result<std::string> FillHook(std::string_view command, const HookValues& values);

// Runs it to its end; what it prints goes to stderr. kIo with its exit code when it fails.
// `input`: a descriptor that is its stdin; -1: that of this process.
Status RunHook(std::string_view command, const HookValues& values, int input = -1);

// A program that is started now and begins when its input comes: it is forked before the process
// gives up programs (app/confine.h).
class WaitingHook {
 public:
  WaitingHook() = default;
  WaitingHook(const WaitingHook&) = delete;
  WaitingHook& operator=(const WaitingHook&) = delete;
  ~WaitingHook();  // without input it ends without having begun

  Status Prepare(std::string_view command, const HookValues& values);
  bool is_prepared() const { return input_.valid(); }
  // Its stdin; waits for its end.
  Status Run(std::string_view input);

 private:
  UniqueFd input_;
  pid_t process_ = -1;
};

}  // namespace debrief
