// The options of the commands for a job as a whole: watch and bundle.
#include <CLI/Config.hpp>

#include "app/command_options.h"

namespace debrief {

CLI::App* AddWatch(CLI::App& app, Parsed& parsed) {
  auto* watch = app.add_subcommand("watch", "Follow a running job; say what broke when it breaks");
  WatchOptions& options = parsed.watch;
  AddOption(*watch, "JOB_DIR", options.folder, "", "Folder that the job writes to")->required();
  AddOption(*watch, "-o,--output", options.output, "DIR", "Folder for the report (debrief_out)");
  AddOption(*watch, "--on-finding", options.on_finding, "CMD",
            "Run CMD for a new error: findings.json on stdin; {findings}, {out}, {headline}");
  AddOption(*watch, "--prometheus", options.prometheus, "FILE",
            "Write metrics for the textfile collector, at each interval");
  AddOption(*watch, "--pid", options.pid, "PID", "The job ends with this process")
      ->check(Between<int64_t>(1, INT32_MAX));
  AddOption(*watch, "--until-idle", options.until_idle, "SECONDS",
            "The job has ended when nothing is written for so long")
      ->check(Between(0.1, 1e9));
  AddOption(*watch, "--silence", options.silence, "SECONDS",
            "Report a rank that prints nothing for so long; 0 = never (120)")
      ->check(Between(0.0, 1e9));
  AddOption(*watch, "--interval", options.interval, "SECONDS", "Look at least this often (1)")
      ->check(Between(0.05, 3600.0));
  AddOption(*watch, "--fail-on", parsed.fail_on, "LEVEL",
            "Exit 3 on a finding of this level or above: info, warning, error")
      ->check(OneOf({"info", "warning", "error"}));
  AddOption(*watch, "--jobs", parsed.global.jobs, "N", "Threads of the analysis; 0 = one per core")
      ->check(Between(0, 1024));
  AddGlobal(*watch, parsed);
  watch->footer("Example:\n  debrief watch examples/hung-job --until-idle 1");
  return watch;
}

CLI::App* AddBundle(CLI::App& app, Parsed& parsed) {
  auto* bundle = app.add_subcommand("bundle", "A job in one file to pass on, without secrets");
  BundleOptions& options = parsed.bundle;
  AddOption(*bundle, "PATH", options.paths, "", "Folder of the job; files, archives")->required();
  AddOption(*bundle, "-o,--output", options.output, "FILE",
            "Archive to write: .tar.zst, .tar.gz or .tar (job.tar.zst)");
  AddOption(*bundle, "--hide", options.hide, "WHAT", "Also replace: shapes, files")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(OneOf({"shapes", "files"}));
  bundle->add_flag("--no-redact", options.no_redact, "Replace nothing");
  AddOption(*bundle, "--kinds", options.kinds, "KIND",
            "Only inputs of these kinds, for example flight_recorder,job_text (see list inputs)")
      ->delimiter(',')
      ->allow_extra_args(false);
  bundle->add_flag("--documents", options.documents, "Also sources and notes (train.py, README)");
  bundle->add_flag("--no-system", options.no_system,
                   "Nothing about this machine (versions, environment, GPUs, kernel log)");
  AddOption(*bundle, "--max-file", options.max_file_mb, "MB", "Leave larger files out (1024)");
  AddOption(*bundle, "--max-total", options.max_total_mb, "MB", "Of all files together (8192)");
  AddGlobal(*bundle, parsed);
  AddOption(*bundle, "--jobs", parsed.global.jobs, "N", "Threads; 0 = one per core")
      ->check(Between(0, 1024));
  bundle->footer("Example:\n  debrief bundle examples/hung-job -o job.tar.zst");
  return bundle;
}

}  // namespace debrief
