#include "analyses/host/bandwidth/meetings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <utility>

#include "base/stats/statistics.h"
#include "tables/job.h"
#include "tables/nccl_perf.h"

namespace debrief::analyses::host_bandwidth {

namespace {

// One operation of one process, for finding those of the same collective.
struct Entry {
  std::tuple<StringId, StringId, StringId, StringId, int64_t> collective;  // with its number
  int32_t process = 0;
  int64_t row = 0;
};

int32_t SizeBits(int64_t bytes) {
  return bytes == kNone64 || bytes < 0
             ? kNone32
             : static_cast<int32_t>(std::bit_width(static_cast<uint64_t>(bytes)));
}

// All members wait for the last one. In a broadcast or a reduction the root, or the leaves, do not.
bool AllWait(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"AllReduce", "AllGather",  "ReduceScatter",
                                                    "AlltoAll",  "AllGatherV", "AllToAll"};
  return std::find(kOps.begin(), kOps.end(), op) != kOps.end();
}

int32_t WorldSizeOf(const Model& model, int32_t job) {
  const auto& jobs = model.tables.Get<JobTable>();
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs.job[i] == job) return jobs.world_size[i];
  }
  return kNone32;
}

class Collector {
 public:
  Collector(const Model& model, host::Attempt attempt)
      : model_(model), perf_(model.tables.Get<NcclPerfTable>()) {
    record_.attempt = attempt;
  }

  void Add(size_t row) {
    const int32_t process = ProcessOf(row);
    KindKey key{
        perf_.comm[row], perf_.comm_name[row],      perf_.op[row], perf_.message_size[row], process,
        perf_.peer[row], SizeBits(perf_.bytes[row])};
    Kind& kind = record_.kinds[key];
    kind.comm_size = perf_.comm_size[row];
    kind.nodes = perf_.nodes[row];
    kind.rows.push_back(static_cast<int64_t>(row));
    // A mean over many has no number.
    const bool known = perf_.seq[row] != kNone64 || perf_.message_size[row] != StringId::kNone;
    if (known && perf_.duration_ns[row] != kNone64 && AllWait(model_.pools.Text(perf_.op[row]))) {
      entries_.push_back({{perf_.comm[row], perf_.comm_name[row], perf_.op[row],
                           perf_.message_size[row], perf_.seq[row]},
                          process,
                          static_cast<int64_t>(row)});
    }
  }

  Record Finish(const host::GpuRanks& ranks) {
    NameRanks(ranks);
    record_.lateness.resize(record_.processes.size());
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.collective, a.process, a.row) < std::tie(b.collective, b.process, b.row);
    });
    for (size_t begin = 0; begin < entries_.size();) {
      size_t end = begin;
      while (end < entries_.size() && entries_[end].collective == entries_[begin].collective) ++end;
      Meet(begin, end);
      begin = end;
    }
    return std::move(record_);
  }

 private:
  int32_t ProcessOf(size_t row) {
    const std::string_view host = model_.pools.Text(perf_.host[row]);
    const auto count = static_cast<int32_t>(record_.processes.size());
    // Without a process, the mode tells GPUs.
    const int32_t gpu = perf_.pid[row] == kNone64 ? perf_.gpu[row] : kNone32;
    auto [known, is_new] = by_place_.try_emplace({perf_.host[row], perf_.pid[row], gpu}, count);
    if (is_new) {
      Process& process = record_.processes.emplace_back();
      process.host = host;
      process.pid = perf_.pid[row];
      process.gpu = gpu;
      process.rank = perf_.rank[row];
    }
    Process& process = record_.processes[static_cast<size_t>(known->second)];
    if (perf_.time_ns[row] >= process.last_ns) {
      process.last_ns = perf_.time_ns[row];
      process.last_row = static_cast<int64_t>(row);
    }
    // The communicator with the most ranks is that of the whole job.
    if (perf_.comm_size[row] > largest_) {
      largest_ = perf_.comm_size[row];
      in_largest_.clear();
    }
    if (perf_.comm_size[row] == largest_ && perf_.comm_rank[row] != kNone32)
      in_largest_[known->second].insert(perf_.comm_rank[row]);
    return known->second;
  }

  void NameRanks(const host::GpuRanks& ranks) {
    const int32_t world = WorldSizeOf(model_, record_.attempt.first);
    const bool whole = largest_ != kNone32 && (world == kNone32 || world == largest_) &&
                       record_.processes.size() <= static_cast<size_t>(std::max(largest_, 0));
    for (size_t i = 0; i < record_.processes.size(); ++i) {
      Process& process = record_.processes[i];
      if (process.rank != kNone32) continue;
      process.rank = ranks.RankOfProcess(record_.attempt, process.host, process.pid);
      if (process.rank == kNone32 && process.gpu != kNone32)
        process.rank = ranks.RankOf(record_.attempt, process.host, process.gpu, "");
      const auto told = in_largest_.find(static_cast<int32_t>(i));
      const bool by_comm =
          process.rank == kNone32 && whole && told != in_largest_.end() && told->second.size() == 1;
      if (by_comm) process.rank = *told->second.begin();
    }
  }

  // Who waits least came last. The operation of each member counts once.
  void Meet(size_t begin, size_t end) {
    std::vector<const Entry*> members;
    for (size_t i = begin; i < end; ++i) {
      if (members.empty() || members.back()->process != entries_[i].process)
        members.push_back(&entries_[i]);
    }
    const auto first = static_cast<size_t>(entries_[begin].row);
    const int32_t size = perf_.comm_size[first];
    const bool is_mean = perf_.seq[first] == kNone64;
    const bool whole = size != kNone32 && members.size() == static_cast<size_t>(size);
    if (members.size() < 2 || (!whole && (is_mean || members.size() < 3))) return;
    auto duration = [&](const Entry* entry) {
      return perf_.duration_ns[static_cast<size_t>(entry->row)];
    };
    const Entry* last = *std::min_element(
        members.begin(), members.end(),
        [&](const Entry* a, const Entry* b) { return duration(a) < duration(b); });
    std::vector<int64_t> others;
    for (const Entry* each : members) {
      if (each != last) others.push_back(duration(each));
    }
    const int64_t middle = Median(std::move(others));
    const int64_t waited = middle - duration(last);
    constexpr int64_t kFelt = 20'000;  // ns; less is chance
    const bool late = waited >= kFelt && waited * 5 >= middle;
    for (const Entry* each : members) Count(*each, each == last && late, middle, waited);
  }

  void Count(const Entry& entry, bool late, int64_t middle, int64_t waited) {
    Lateness& lateness = record_.lateness[static_cast<size_t>(entry.process)];
    const auto row = static_cast<size_t>(entry.row);
    Kind& kind =
        record_
            .kinds[{perf_.comm[row], perf_.comm_name[row], perf_.op[row], perf_.message_size[row],
                    entry.process, perf_.peer[row], SizeBits(perf_.bytes[row])}];
    ++lateness.met;
    ++kind.met;
    lateness.time_ns += middle;
    if (!late) return;
    ++lateness.last;
    ++kind.arrived_last;
    lateness.others_waited_ns += waited;
    kind.others_waited_ns += waited;
    constexpr size_t kMostShown = 3;
    if (lateness.rows.size() < kMostShown) lateness.rows.push_back(entry.row);
  }

  const Model& model_;
  const NcclPerfTable& perf_;
  Record record_;
  std::map<std::tuple<StringId, int64_t, int32_t>, int32_t> by_place_;
  std::vector<Entry> entries_;
  int32_t largest_ = kNone32;
  std::map<int32_t, std::set<int32_t>> in_largest_;  // ranks of a process there
};

}  // namespace

std::vector<Record> CollectRecords(const Model& model) {
  const auto& perf = model.tables.Get<NcclPerfTable>();
  std::map<host::Attempt, Collector> collectors;
  for (size_t row = 0; row < perf.size(); ++row) {
    if (perf.job[row] == kNone32) continue;
    const host::Attempt attempt(perf.job[row], perf.attempt[row]);
    collectors.try_emplace(attempt, model, attempt).first->second.Add(row);
  }
  const host::GpuRanks ranks(model);
  std::vector<Record> records;
  for (auto& [attempt, collector] : collectors) records.push_back(collector.Finish(ranks));
  return records;
}

}  // namespace debrief::analyses::host_bandwidth
