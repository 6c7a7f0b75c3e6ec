#include "analyses/flight/row_runs.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace debrief::analyses::flight {

namespace {

using GroupKey = std::pair<StringId, ListId>;  // name and members

// What the dump of one rank has of one group, from its first operation on.
struct Epoch {
  size_t run = 0;
  int64_t first_ns = kNone64;  // when its first and its last operation were issued
  int64_t last_ns = kNone64;
  bool began_together = false;  // the first needs all members, and is completed
};

// A clog tells the same as the Flight Recorder of its rank, without stacks: it is taken where there
// is no dump.
void DropClogs(const CommOpTable& ops, StringId clog, std::vector<RowRun>& runs) {
  std::set<int32_t> with_dump;
  auto is_clog = [&](const RowRun& run) {
    return clog != StringId::kNone && ops.backend[run.begin] == clog;
  };
  for (const RowRun& run : runs) {
    if (!is_clog(run)) with_dump.insert(run.rank);
  }
  std::erase_if(runs,
                [&](const RowRun& run) { return is_clog(run) && with_dump.contains(run.rank); });
}

std::map<GroupKey, Epoch> EpochsOf(const Model& model, const RowRun& run, size_t number) {
  const auto& ops = model.tables.Get<CommOpTable>();
  std::map<GroupKey, Epoch> epochs;
  for (size_t row = run.begin; row < run.end; ++row) {
    const int64_t created = ops.created_ns[row];
    if (ops.is_p2p[row] != 0) continue;
    auto [known, is_new] = epochs.try_emplace({ops.group_name[row], ops.members[row]});
    Epoch& epoch = known->second;
    if (is_new) {
      epoch.run = number;
      epoch.first_ns = created;
      epoch.began_together = created != kNone64 &&
                             model.pools.Text(ops.state[row]) == "completed" &&
                             NeedsAll(model.pools.Text(ops.op[row]));
    }
    epoch.last_ns = std::max(epoch.last_ns, created);
  }
  return epochs;
}

constexpr int64_t kApart = 60'000'000'000;  // more than clocks of hosts differ

bool IsLongBefore(int64_t time_ns, int64_t other_ns) {
  int64_t apart = 0;
  return time_ns != kNone64 && other_ns != kNone64 &&
         !__builtin_sub_overflow(other_ns, time_ns, &apart) && apart > kApart;
}

// Is there a dump that ends long before another begins? Most jobs have none, and that is cheap to
// see.
bool MayHaveEpochs(const CommOpTable& ops, const std::vector<RowRun>& runs) {
  int64_t first_end = kNone64, last_begin = kNone64;
  for (const RowRun& run : runs) {
    const int64_t end = ops.created_ns[run.end - 1];
    if (ops.record[run.begin] != 0 || end == kNone64) continue;
    if (first_end == kNone64 || end < first_end) first_end = end;
    last_begin = std::max(last_begin, ops.created_ns[run.begin]);
  }
  return IsLongBefore(first_end, last_begin);
}

// Dumps that begin with record 0 begin with the same operation of a group. Where a rank has
// completed it together with all members, and was done with the group long before another issued
// its first, those are not the same: the other's recorder was reset in between. Where that would be
// so of half the dumps or more, the clocks of the hosts differ instead.
std::set<size_t> OlderEpochs(const Model& model, const std::vector<RowRun>& runs) {
  const auto& ops = model.tables.Get<CommOpTable>();
  if (!MayHaveEpochs(ops, runs)) return {};
  std::map<GroupKey, std::vector<Epoch>> by_group;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (ops.record[runs[i].begin] != 0) continue;
    for (const auto& [group, epoch] : EpochsOf(model, runs[i], i)) by_group[group].push_back(epoch);
  }
  std::set<size_t> older;
  for (const auto& [group, epochs] : by_group) {
    int64_t newest = kNone64;
    for (const Epoch& epoch : epochs) newest = std::max(newest, epoch.first_ns);
    for (const Epoch& epoch : epochs) {
      if (epoch.began_together && IsLongBefore(epoch.last_ns, newest)) older.insert(epoch.run);
    }
  }
  if (older.size() * 2 >= runs.size()) older.clear();
  return older;
}

}  // namespace

bool NeedsAll(std::string_view op) {
  static constexpr std::array<std::string_view, 7> kStarts = {
      "all_reduce", "allreduce",      "all_gather",     "_all_gather",
      "allgather",  "reduce_scatter", "_reduce_scatter"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return op.starts_with(start); });
}

RowRuns RunsOf(const Model& model, AttemptRows::Rows own) {
  const auto& ops = model.tables.Get<CommOpTable>();
  std::vector<RowRun> runs;
  for (const size_t i : own) {
    if (ops.rank[i] == kNone32) continue;
    if (!runs.empty() && runs.back().input == ops.input[i] && runs.back().end == i) {
      runs.back().end = i + 1;
    } else {
      runs.push_back({ops.rank[i], ops.input[i], i, i + 1});
    }
  }
  DropClogs(ops, model.pools.strings.Find("torchcomms"), runs);
  std::sort(runs.begin(), runs.end(), [](const RowRun& a, const RowRun& b) {
    return std::tie(a.rank, a.input, a.begin) < std::tie(b.rank, b.input, b.begin);
  });
  RowRuns result;
  const std::set<size_t> older = OlderEpochs(model, runs);
  for (size_t i = 0; i < runs.size(); ++i)
    (older.contains(i) ? result.older : result.runs).push_back(runs[i]);
  return result;
}

}  // namespace debrief::analyses::flight
