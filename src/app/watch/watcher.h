// Follows a job: looks at its folder again and again, reads what grew, and runs the analysis when
// something broke or the job ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/commands/commands.h"
#include "app/hooks/hook_process.h"
#include "app/terminal.h"
#include "app/watch/analysis.h"
#include "app/watch/folder_scan.h"
#include "app/watch/followed_file.h"
#include "app/watch/job_state.h"
#include "app/watch/status_text.h"
#include "app/watch/wake_up.h"

namespace debrief::watch {

class Watcher {
 public:
  // All of them must outlive it.
  Watcher(const WatchOptions& options, const ReportOptions& report, const GlobalOptions& global,
          HookProcess& hook);

  // Until the job has ended, or a signal came. The exit code.
  int Run();

 private:
  // What is known of one file.
  struct File {
    FollowedFile text;
    LineSource source;
    std::string kind;  // of inputs; empty while it is not known
    size_t sniffed = 0;
    uint64_t bytes = 0;
    int64_t changed_ns = 0;
    bool is_new = true;
    uint64_t seen_in = 0;  // number of the look that saw it last
  };
  using FileKey = std::pair<dev_t, ino_t>;

  void FindOwnFiles();
  void Look();
  void LookAt(const SeenFile& seen, File& file);
  void Recognise(const SeenFile& seen, File& file);
  void Print(const Event& event);
  void PrintEvents();
  void PrintState();
  void WriteMetrics(bool is_running);
  bool IsEvidence(const File& file) const;
  bool NeedsAnalysis() const;
  void Analyse();
  void Take(const AnalysisResult& result);
  bool HasEnded(std::string& why) const;
  int Finish(const std::string& why);
  int64_t SinceNs(int64_t then_ns) const;

  const WatchOptions& options_;
  const ReportOptions& report_;
  const GlobalOptions& global_;
  HookProcess& hook_;
  SystemClock clock_;
  int64_t now_ns_ = 0;
  WakeUp wake_up_;
  StatusLine line_;
  JobState state_;
  AnalysisProcess analysis_;
  std::map<FileKey, File> files_;
  std::set<FileKey> own_files_;  // that this process writes
  uint64_t looks_ = 0;
  WatchFigures figures_;
  int64_t evidence_ns_ = kNone64;        // when a reason for an analysis came last
  int64_t first_evidence_ns_ = kNone64;  // and the first one that no analysis has seen
  int64_t analysed_ns_ = kNone64;
  int64_t metrics_ns_ = kNone64;
  bool has_more_ = false;  // some file was not read to its end
  bool said_refused_ = false;
  bool is_failing_ = false;  // a finding of --fail-on or above
  bool was_analysed_ = false;
  std::set<std::string> known_;  // headlines of errors that were said
  std::string answer_;           // the last one that was printed
};

}  // namespace debrief::watch
