#include "app/tasks/run_task.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "app/check_paths.h"
#include "app/folders/output_folder.h"
#include "app/folders/output_guard.h"
#include "app/folders/staged_folder.h"
#include "app/shell_word.h"
#include "app/tasks/map_share.h"
#include "app/tasks/meeting.h"
#include "app/terminal.h"
#include "base/bytes/md5.h"
#include "base/bytes/output_names.h"
#include "base/version.h"

namespace debrief {

namespace {

// Tasks of other launches, with other paths or of another version meet elsewhere.
std::string MeetingName(const Task& task, const ReportOptions& options) {
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n", kVersion, task.run, task.share.of, options.is_local);
  for (const std::string& path : options.paths) key += path + '\n';
  return "tasks-" + Md5Hex(key).substr(0, 16);
}

Status MapOwnShare(const Task& task, const ReportOptions& options, const GlobalOptions& global,
                   const Meeting& meeting) {
  shards::Share share = task.share;
  share.is_local = options.is_local;
  if (share.is_local) share.host = MachineName();
  return MapShare({.paths = options.paths,
                   .output_folder = options.output,
                   .shard = meeting.ShardPath(),
                   .share = share},
                  global);
}

int EndOther(const Task& task, const Meeting& meeting, const Status& mapped,
             const GlobalOptions& global) {
  if (mapped.ok()) {
    if (!global.quiet) {
      PrintNote(fmt::format("debrief: task {} of {} has read its share; task 1 writes the report",
                            task.share.number + 1, task.share.of));
    }
    return 0;
  }
  // Another process with our number was faster, and the report is written.
  if (!meeting.IsThere()) return 0;
  meeting.Fail();
  return Fail(mapped);
}

// How to complete a report that was written without some of the shards.
void PrintHowToComplete(const Meeting& meeting, const ReportOptions& options) {
  const std::string folder = ShellWord(meeting.folder().string());
  PrintNote(fmt::format(
      "debrief: the shards are kept; once `debrief map` has written the others there, `debrief "
      "reduce {} -o {}` completes the report",
      folder, ShellWord(options.output)));
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

int ReduceAll(const Meeting& meeting, const ReportOptions& options, const GlobalOptions& global,
              const std::string& target) {
  Meeting::Arrivals arrivals = meeting.Wait(options.wait_s, global.quiet);
  if (arrivals.is_alone) {
    PrintNote("debrief: no other task has started; all is read here (--alone does not wait)");
    meeting.Clear();
    return RunReport(options, global);
  }
  if (!arrivals.absent.empty())
    PrintNote(fmt::format("debrief: no shard of {}", Listed(arrivals.absent)));
  if (arrivals.shards.empty()) return 1;
  ReportOptions reduce = options;
  reduce.from_shards = true;
  reduce.paths = arrivals.shards;
  const int code = RunReport(reduce, global);
  const bool is_written = code == 0 || code == 3;
  // A second process with our number wrote the report from the same shards, and removed them.
  if (!is_written && !meeting.IsThere() && IsReportFolder(target)) return 0;
  if (is_written && arrivals.absent.empty()) {
    meeting.Clear();
  } else {
    PrintHowToComplete(meeting, options);
  }
  return code;
}

}  // namespace

int RunTask(const Task& task, const ReportOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths(options.paths, options.commands); !status.ok())
    return Fail(status);
  Result<std::string> target = GuardFolder(options.output, options.paths);
  if (!target.ok()) return Fail(target.status());
  const bool is_first = task.share.number == 0;
  if (is_first) {
    StagedFolder probe;  // what may not be replaced is said before any work
    Status begun =
        probe.Begin(options.output,
                    {.overwrite = options.overwrite, .is_report = true, .inputs = options.paths});
    if (!begun.ok()) return Fail(begun);
  }
  const std::filesystem::path beside = target.value() + std::string(kShardsSuffix);
  Meeting meeting(beside / MeetingName(task, options), task);
  if (Status status = meeting.Join(); !status.ok()) return Fail(status);
  const Status mapped = MapOwnShare(task, options, global, meeting);
  if (!is_first) return EndOther(task, meeting, mapped, global);
  if (!mapped.ok()) {
    PrintError(mapped);
    meeting.Fail();
  }
  return ReduceAll(meeting, options, global, target.value());
}

}  // namespace debrief
