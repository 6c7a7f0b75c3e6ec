#include "inputs/job_text/rows/process_rows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kMostRows = size_t{1} << 18;
// Steps of one text, and of one process in it: a job has thousands of texts, and a curve of so many
// points shows what all of them show.
constexpr size_t kEnoughSteps = size_t{1} << 15, kEnoughOfProcess = 1024;

// The number behind the time of a log header is the process: "E1115 23:24:53.864000 1814 torch/..".
int64_t PidOfHeader(std::string_view text) {
  auto header = ParseLogHeader(text);
  if (!header) return kNone64;
  const char* behind = header->time_text.data() + header->time_text.size();
  return NumberAfter(text.substr(static_cast<size_t>(behind - text.data())), "");
}

StringId InternOrNone(Pools& pools, std::string_view text) {
  return text.empty() ? StringId::kNone : pools.Intern(text);
}

}  // namespace

template <typename Row>
Row ProcessRows::NewRow(const Where& where) const {
  Row row = Part::RowOf<Row>(who_);
  row.input = who_.input;
  row.line = where.line;
  row.rank = kNone32;
  return row;
}

// DeepSpeed prints the command of the process that it started last, whichever ended: it says
// something only when it is the command of another one.
int32_t ProcessRows::LocalRankOf(const ExitStatement& exit, const Where& where) {
  if (exit.said_by != "deepspeed" || exit.local_rank == kNone32) return exit.local_rank;
  int32_t last = std::exchange(counted_[where.owner.host], 0) - 1;
  return exit.local_rank < last ? exit.local_rank : kNone32;
}

void ProcessRows::AddExit(const ExitStatement& exit, const Where& where, std::string_view text,
                          Pools& pools) {
  bool ends_attempt = exit.said_by == "torchrun" && exit.first && exit.ranks.empty();
  if (ends_attempt) failures_[{where.owner.host, PidOfHeader(text)}].push_back(where.line);
  open_begin_ = exits_.size();
  int32_t local_rank = LocalRankOf(exit, where);
  std::vector<int32_t> ranks = exit.ranks;
  if (ranks.empty()) ranks.push_back(kNone32);
  for (int32_t rank : ranks) {
    if (exits_.size() >= kMostRows) {
      ++dropped_;
      continue;
    }
    auto row = NewRow<ProcessExitRow>(where);
    row.rank = rank;
    row.time_ns = where.time_ns;
    row.local_rank = local_rank;
    row.host = InternOrNone(pools, exit.host);
    row.pid = exit.pid;
    row.exit_code = exit.exit_code;
    row.said_by = pools.Intern(exit.said_by);
    row.how = pools.Intern(exit.how);
    row.first = exit.first ? 1 : 0;
    row.text = pools.Intern(text);
    exits_.push_back({row, where.owner});
  }
  if (exit.said_by == "lightning") lightning_ends_.push_back(where.line);
  open_end_ = exit.open ? exits_.size() : open_begin_;
  if (exit.ranks.size() != 1) return;
  ranks_.Learn(where.owner.host, exit.local_rank, exit.ranks.front());
  ranks_.LearnProcess(exit.pid, exit.ranks.front());
}

void ProcessRows::AddEntry(ExitStatement exit, bool first, const Where& where,
                           std::string_view text, Pools& pools) {
  exit.first = first;
  AddExit(exit, where, text, pools);
}

void ProcessRows::DropExitsFrom(int64_t line, const Pools& pools) {
  std::erase_if(exits_, [&](const At<ProcessExitRow>& exit) {
    const std::string_view by = pools.Text(exit.row.said_by);
    return exit.row.line >= line &&
           (by == "rank" || by == "shell" || by == "vllm" || by == "sglang");
  });
  open_begin_ = open_end_ = exits_.size();
}

void ProcessRows::DropRaisedBefore(int64_t line, const Pools& pools) {
  std::erase_if(exits_, [&](const At<ProcessExitRow>& exit) {
    return exit.row.line < line && pools.Text(exit.row.said_by) == "rank";
  });
  open_begin_ = open_end_ = exits_.size();
}

void ProcessRows::EndExit(int32_t exit_code) {
  for (size_t i = open_begin_; i < open_end_; ++i) exits_[i].row.exit_code = exit_code;
  open_end_ = open_begin_;
}

void ProcessRows::AddIdentity(const IdentityLine& line, const Where& where, Pools& pools) {
  // Who says its rank behind the mark of its process or of its pod has told it for all such lines.
  const bool of_program = line.said_by == "lightning" || line.said_by == "vllm";
  if (of_program) {
    ranks_.LearnProcess(where.owner.pid, line.rank);
    if (where.owner.local_rank == kNone32) ranks_.LearnHost(where.owner.host, line.rank);
  }
  if (line.said_by == "vllm" && line.pid == kNone64) return;  // nothing else is in it
  if (identities_.size() >= kMostRows) {
    ++dropped_;
    return;
  }
  auto row = NewRow<ProcessIdentityRow>(where);
  row.rank = line.rank;
  row.local_rank = line.is_next ? NextLocalRank(where) : line.local_rank;
  row.host = InternOrNone(pools, line.host);
  row.pid = line.pid;
  row.gpu = line.gpu;
  row.bus_id = InternOrNone(pools, line.bus_id);
  row.group_rank = line.group_rank;
  row.group_size = line.group_size;
  row.comm = InternOrNone(pools, line.comm);
  row.set_up = line.set_up ? 1 : 0;
  row.said_by = pools.Intern(line.said_by);
  // The first rank of a node.
  if (line.said_by == "deepspeed" && line.rank != kNone32)
    ranks_.Learn(where.owner.host, line.local_rank, line.rank);
  identities_.push_back({row, where.owner});
}

// A commit is what every step ends with.
void ProcessRows::AddReplica(const ReplicaLine& line, const Where& where, Pools& pools) {
  has_replicas_ = true;
  if (line.what == "commit") return;
  if (replicas_.size() >= kMostRows) {
    ++dropped_;
    return;
  }
  auto row = NewRow<ReplicaEventRow>(where);
  row.time_ns = where.time_ns;
  row.replica = pools.Intern(line.replica);
  row.life = InternOrNone(pools, line.life);
  row.group_rank = line.group_rank;
  row.step = line.step;
  row.what = pools.Intern(line.what);
  row.number = line.number;
  row.text = pools.Intern(line.text);
  replicas_.push_back({row, where.owner});
}

void ProcessRows::AddProgress(const ProgressLine& line, const Where& where, Pools& pools) {
  if (progress_.size() >= most_steps_) ThinOut();
  auto row = NewRow<ProgressRow>(where);
  row.time_ns = where.time_ns;
  row.step = line.step;
  row.epoch = line.epoch;
  row.loss = line.loss;
  row.not_finite = line.not_finite ? 1 : 0;
  row.grad_norm = line.grad_norm;
  row.learning_rate = line.learning_rate;
  row.step_time_ms = line.step_time_ms;
  row.throughput = line.throughput;
  row.throughput_unit = InternOrNone(pools, line.throughput_unit);
  progress_.push_back({row, where.owner});
}

// Every second step of a very long job is enough, of each of the processes that share a text; the
// newest stay, and those without a finite loss.
void ProcessRows::ThinOut() {
  std::map<Owner, bool> goes;  // the next older step of the process
  size_t kept = progress_.size();
  for (size_t i = progress_.size(); i-- > 0;) {
    bool& goes_next = goes[progress_[i].owner];
    const bool stays = !goes_next || progress_[i].row.not_finite != 0;
    goes_next = !goes_next;
    if (stays) progress_[--kept] = progress_[i];
  }
  most_steps_ = std::clamp(goes.size() * kEnoughOfProcess, kEnoughSteps, kMostRows);
  // Where each process told a step or two, or most losses are not finite, older ones go.
  kept = std::max(kept, progress_.size() / 4);
  progress_.erase(progress_.begin(), progress_.begin() + static_cast<ptrdiff_t>(kept));
}

// NCCL tells the rank inside of a communicator; that of the largest is the rank of the job.
void ProcessRows::LearnRanks(int64_t last_line) {
  LearnAttempts(last_line);
  int32_t world = 0;
  for (const auto& each : identities_) world = std::max(world, each.row.group_size);
  for (auto& each : identities_) {
    ProcessIdentityRow& row = each.row;
    if (row.rank == kNone32 && row.local_rank != kNone32)
      row.rank = ranks_.RankOf({.local_rank = row.local_rank, .host = each.owner.host}, kNone32);
    if (row.rank == kNone32 && !each.owner.IsNobody()) row.rank = RankOf(each.owner);
    if (row.rank == kNone32) row.rank = who_.rank;
    bool of_all = row.group_rank != kNone32 && row.group_size == world && world > 1;
    if (row.rank == kNone32 && of_all) row.rank = row.group_rank;
    ranks_.LearnProcess(row.pid, row.rank);
  }
  LearnMarkedProcesses(world);
}

// NCCL's lines behind marks of processes, which may count them otherwise than NCCL does (in a
// container): where each process is another rank of the whole job, it is that in its other lines.
void ProcessRows::LearnMarkedProcesses(int32_t world) {
  std::map<int64_t, int32_t> rank_of;
  std::set<int32_t> ranks;
  for (const auto& each : identities_) {
    const bool tells = each.row.group_size == world && each.row.group_rank == each.row.rank;
    if (!tells || each.owner.pid == kNone64) continue;
    auto [known, is_new] = rank_of.try_emplace(each.owner.pid, each.row.rank);
    if (!is_new && known->second != each.row.rank) return;
    ranks.insert(each.row.rank);
  }
  const auto count = static_cast<int64_t>(ranks.size());
  if (count != world || rank_of.size() != ranks.size()) return;
  for (auto [pid, rank] : rank_of) ranks_.LearnProcess(pid, rank);
}

// The launcher with the most restarts tells where attempts end.
// One that starts a replica group of torchft again starts no attempt: the job went on.
void ProcessRows::LearnAttempts(int64_t last_line) {
  if (has_replicas_) return;
  for (const auto& [launcher, lines] : failures_) {
    if (lines.size() > attempt_ends_.size()) attempt_ends_ = lines;
  }
  if (attempt_ends_.empty()) return;
  int64_t end = attempt_ends_.back();
  // A launcher names the failure when all processes have ended: steps behind it are of new ones.
  constexpr std::ptrdiff_t kFewest = 3;
  const auto steps = std::count_if(progress_.begin(), progress_.end(),
                                   [&](const auto& each) { return each.row.line > end; });
  bool goes_on = summary_line_ < end && (last_line > end || steps >= kFewest);
  attempts_ = static_cast<int32_t>(attempt_ends_.size()) + (goes_on ? 1 : 0);
}

// The text's own attempt is its last one, unless it is about more than were told apart.
int32_t ProcessRows::AttemptOf(int64_t line) const {
  if (attempts_ == 1 || who_.attempt == kNone32) return who_.attempt;
  auto ended = std::lower_bound(attempt_ends_.begin(), attempt_ends_.end(), line);
  auto segment = static_cast<int32_t>(ended - attempt_ends_.begin());
  int32_t first = std::max(0, who_.attempt - (attempts_ - 1));
  return first + std::min(segment, attempts_ - 1);
}

int32_t ProcessRows::RankOfExit(const At<ProcessExitRow>& exit, const Pools& pools) const {
  const ProcessExitRow& row = exit.row;
  if (row.rank != kNone32) return row.rank;
  if (row.local_rank != kNone32) {
    Owner owner{.local_rank = row.local_rank, .host = exit.owner.host};
    return ranks_.RankOf(owner, kNone32);
  }
  if (int32_t known = ranks_.RankOfProcess(row.pid); known != kNone32) return known;
  // What a rank's own text says without naming a process is about itself.
  std::string_view by = pools.Text(row.said_by);
  bool own = by == "rank" || (by == "shell" && row.pid == kNone64);
  return own ? RankOf(exit.owner) : kNone32;
}

// Lightning kills all others, and its own process last, when one of its children has ended. Whoever
// has taken a step or set up its groups since then was started again, and what the kernel says of a
// process is no doing of Lightning's.
bool ProcessRows::IsEndedByLightning(const ProcessExitRow& row, const Pools& pools) const {
  constexpr int32_t kKilled = -9;
  auto next = std::upper_bound(lightning_ends_.begin(), lightning_ends_.end(), row.line - 1);
  const bool may = row.exit_code == kKilled && next != lightning_ends_.begin();
  if (!may || pools.Text(row.said_by) == "kernel") return false;
  const int64_t ended = *std::prev(next);
  auto between = [&](const auto& each) {
    return each.row.line > ended && each.row.line < row.line;
  };
  return !std::any_of(progress_.begin(), progress_.end(), between) &&
         !std::any_of(identities_.begin(), identities_.end(), between);
}

void ProcessRows::Write(Part& whole) {
  for (auto& each : exits_) {
    if (IsEndedByLightning(each.row, whole.pools)) each.row.how = whole.pools.Intern("stopped");
    each.row.rank = RankOfExit(each, whole.pools);
    each.row.attempt = AttemptOf(each.row.line);
    whole.tables.Edit<ProcessExitTable>().Add(each.row);
  }
  for (auto& each : identities_) {
    each.row.attempt = AttemptOf(each.row.line);
    whole.tables.Edit<ProcessIdentityTable>().Add(each.row);
  }
  for (auto& each : progress_) {
    each.row.rank = RankOf(each.owner);
    each.row.attempt = AttemptOf(each.row.line);
    whole.tables.Edit<ProgressTable>().Add(each.row);
  }
  for (auto& each : replicas_) {
    each.row.rank = RankOf(each.owner);
    each.row.attempt = AttemptOf(each.row.line);
    whole.tables.Edit<ReplicaEventTable>().Add(each.row);
  }
}

}  // namespace debrief::inputs::job_text
