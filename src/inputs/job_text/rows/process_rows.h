// What a text says of processes, gathered until all of it has been read: only then is it known
// which rank a process is, and to which attempt a line belongs.
//
// A launcher that restarts its processes writes one text about all attempts. Each ends with the
// line that names its first failure; what follows belongs to the next, except the closing summary.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inputs/job_text/line_scanner.h"
#include "inputs/job_text/lines/exits.h"
#include "inputs/job_text/lines/identities.h"
#include "inputs/job_text/lines/replicas.h"
#include "inputs/job_text/rows/rank_map.h"
#include "model/model.h"
#include "tables/process_exit.h"
#include "tables/process_identity.h"
#include "tables/progress.h"
#include "tables/replica_event.h"

namespace debrief::inputs::job_text {

class ProcessRows {
 public:
  explicit ProcessRows(const Identity& who) : who_(who) {}

  // Where a line stands and whose it is.
  struct Where {
    Owner owner;
    int64_t line = 0;
    int64_t time_ns = kNone64;
  };

  void AddExit(const ExitStatement& exit, const Where& where, std::string_view text, Pools& pools);
  // An entry of torchrun's list.
  void AddEntry(ExitStatement exit, bool first, const Where& where, std::string_view text,
                Pools& pools);
  // The exit code that stood in a later line than the rest of the statement.
  void EndExit(int32_t exit_code);
  void AddIdentity(const IdentityLine& line, const Where& where, Pools& pools);
  void AddReplica(const ReplicaLine& line, const Where& where, Pools& pools);
  void AddProgress(const ProgressLine& line, const Where& where, Pools& pools);
  // What processes and their shells say of ends from `line` on is left out: they end in order.
  void DropExitsFrom(int64_t line, const Pools& pools);
  // Exceptions before `line` did not end their processes.
  void DropRaisedBefore(int64_t line, const Pools& pools);
  // torchrun's closing summary: no attempt follows.
  void AddSummary(int64_t line) { summary_line_ = line; }

  RankMap& ranks() { return ranks_; }
  int64_t dropped() const { return dropped_; }

  // Call when all lines are there, before the rest. `last_line` is that of the last marked line.
  void LearnRanks(int64_t last_line);
  int32_t AttemptOf(int64_t line) const;
  int32_t RankOf(const Owner& owner) const { return ranks_.RankOf(owner, who_.rank); }
  void Write(Part& whole);

 private:
  template <typename Row>
  struct At {
    Row row;
    Owner owner;
  };

  void ThinOut();
  void LearnAttempts(int64_t last_line);
  void LearnMarkedProcesses(int32_t world);
  // The local rank of a process that a launcher counts, or names by its command.
  int32_t NextLocalRank(const Where& where) { return counted_[where.owner.host]++; }
  int32_t LocalRankOf(const ExitStatement& exit, const Where& where);
  bool IsEndedByLightning(const ProcessExitRow& row, const Pools& pools) const;
  int32_t RankOfExit(const At<ProcessExitRow>& exit, const Pools& pools) const;
  template <typename Row>
  Row NewRow(const Where& where) const;

  Identity who_;
  RankMap ranks_;
  std::vector<At<ProcessExitRow>> exits_;
  std::vector<At<ProcessIdentityRow>> identities_;
  std::vector<At<ProgressRow>> progress_;
  size_t most_steps_ = size_t{1} << 15;  // of progress_; more where many processes share the text
  std::vector<At<ReplicaEventRow>> replicas_;
  bool has_replicas_ = false;
  std::vector<int64_t> lightning_ends_;  // where it says that a child ended, and it ends the others
  size_t open_begin_ = 0, open_end_ = 0;  // exits that wait for their code
  std::map<std::pair<uint32_t, int64_t>, std::vector<int64_t>> failures_;  // lines, by launcher
  std::map<uint32_t, int32_t> counted_;  // processes that a launcher has listed, by host
  int64_t summary_line_ = 0;
  std::vector<int64_t> attempt_ends_;
  int32_t attempts_ = 1;
  int64_t dropped_ = 0;
};

}  // namespace debrief::inputs::job_text
