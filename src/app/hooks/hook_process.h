// A process that runs the same command line as often as it is asked to. It is forked before the
// process that reads inputs gives up programs (app/confine.h).
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

class HookProcess {
 public:
  HookProcess() = default;
  HookProcess(const HookProcess&) = delete;
  HookProcess& operator=(const HookProcess&) = delete;
  // Waits until what was asked for is done.
  ~HookProcess();

  // `command` may have {findings}, {out} and {headline}. kUsage when it has other places.
  Status Start(std::string_view command, const std::string& out);
  bool is_started() const { return requests_.valid(); }

  // Runs it with the file `findings` on its stdin; does not wait for it. What it prints goes to
  // stderr, and so does that it failed.
  void Run(const std::string& findings, const std::string& headline);

 private:
  UniqueFd requests_;
  pid_t process_ = -1;
};

}  // namespace debrief
