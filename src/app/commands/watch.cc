// debrief watch JOB_DIR: follows a job while it runs, and says what broke when it does.
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <system_error>

#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/confine.h"
#include "app/hooks/hook_process.h"
#include "app/terminal.h"
#include "app/watch/watcher.h"

namespace debrief {

namespace {

Status CheckWatched(const WatchOptions& options) {
  TRY(CheckPaths({&options.folder, 1}));
  std::error_code error;
  if (std::filesystem::is_directory(options.folder, error)) return {};
  return Status(Code::kUsage, fmt::format("{} is no folder", options.folder))
      .Remedy("Name the folder that the job writes to");
}

}  // namespace

int RunWatch(const WatchOptions& options, const GlobalOptions& global) {
  std::signal(SIGPIPE, SIG_IGN);
  if (Status status = CheckWatched(options); !status.ok()) return Fail(status);
  ReportOptions report;
  report.paths = {options.folder};
  report.output = options.output;
  report.fail_on = options.fail_on;
  report.stays_inside = true;
  HookProcess hook;
  if (!options.on_finding.empty()) {
    std::error_code error;
    const std::string out = std::filesystem::absolute(options.output, error).string();
    if (Status status = hook.Start(options.on_finding, out); !status.ok()) return Fail(status);
  }
  Confine(global);
  return watch::Watcher(options, report, global, hook).Run();
}

}  // namespace debrief
