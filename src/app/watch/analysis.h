// The ordinary analysis of the folder, in a process of its own: what it needs is given back to the
// system when it ends, and one that takes too long or breaks costs itself alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief::watch {

struct FoundCause {
  std::string severity;
  std::string role;
  std::string headline;
};

struct AnalysisResult {
  bool is_done = false;              // the report was written
  std::string answer;                // as `debrief PATH` prints it
  std::vector<FoundCause> findings;  // in order
  std::string findings_file;

  size_t CountOf(std::string_view severity) const;
};

class AnalysisProcess {
 public:
  AnalysisProcess(const ReportOptions& report, const GlobalOptions& global, int64_t limit_ns);
  AnalysisProcess(const AnalysisProcess&) = delete;
  AnalysisProcess& operator=(const AnalysisProcess&) = delete;
  ~AnalysisProcess() { Kill(); }

  // The last one also writes the tables for SQL; those before have to be quick.
  Status Start(int64_t now_ns, bool is_last = false);
  bool is_running() const { return process_ > 0; }
  // The result once, when it has ended.
  std::optional<AnalysisResult> Poll(int64_t now_ns);
  // The last one, waiting for it.
  AnalysisResult RunLast(int64_t now_ns);

 private:
  void Kill();
  AnalysisResult Collect(int state);

  const ReportOptions& report_;
  const GlobalOptions& global_;
  int64_t limit_ns_;
  int64_t started_ns_ = 0;
  pid_t process_ = -1;
  UniqueFd answer_;  // a file without a name that it prints to
};

}  // namespace debrief::watch
