// Writes where each rank is and for whom it waits there.
//
//   {"texts": ["mesh_dp", "all_reduce"],
//    "waits": [{"job": 0, "attempt": 0, "name": 0, "desc": 0, "seq": 16, "op": 1, "state": 2,
//               "ranks": [[0, 1, 4]], "on": [[5, 1, 1]], "waits": 1,
//               "oldest_ns": 601000000000, "newest_ns": 600000000000}],
//    "left_out": 0}
//
// A rank is at one op: its oldest that is not completed. first_incomplete has one row for each
// group of the rank, and only that of this op says for whom it waits; when none does, all members
// of its oldest op have joined. Ranks that are at the same op, in the same state, and wait for the
// same ranks are one entry, so 512 ranks in a collective of the world are one. Lists are runs
// (WriteRuns). web/src/flight/waits.ts reads it. Cost: one pass over first_incomplete.
#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "outputs/pending_ops.h"
#include "outputs/report/html/collectives/collectives.h"
#include "tables/first_incomplete.h"
#include "torch/collective_names.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kWaitTextBytes = 100'000;
constexpr size_t kMostWaits = 4000;
constexpr size_t kMostRuns = 40'000;  // of all lists
constexpr size_t kRunsOfOne = 256;    // of one list

// Ranks that wait for the same.
struct SharedWait {
  size_t row = 0;  // of first_incomplete, that of the lowest rank
  std::vector<int64_t> ranks;
  int64_t oldest_ns = kNone64;
  int64_t newest_ns = kNone64;
};

class WaitCollector {
 public:
  explicit WaitCollector(const Model& model)
      : model_(model),
        lists_(model.pools.lists),
        table_(model.tables.Get<FirstIncompleteTable>()),
        ends_(FindAttemptEnds(model)) {}

  std::vector<SharedWait> Collect() {
    std::map<Place, size_t> at;  // row where a rank is
    for (size_t row = 0; row < table_.size(); ++row) {
      const Place place = {table_.job[row], table_.attempt[row], table_.rank[row]};
      const auto [found, is_new] = at.try_emplace(place, row);
      if (!is_new && !lists_.Get(table_.waits_for[row]).empty()) found->second = row;
    }
    for (const auto& [place, row] : at) Add(row);
    for (SharedWait& wait : waits_) std::sort(wait.ranks.begin(), wait.ranks.end());
    return std::move(waits_);
  }

 private:
  using Place = std::tuple<int32_t, int32_t, int32_t>;
  using Key = std::tuple<int32_t, int32_t, StringId, ListId, int64_t, StringId, StringId, ListId>;

  void Add(size_t row) {
    const Key key = {table_.job[row],     table_.attempt[row],  table_.group_name[row],
                     table_.members[row], table_.seq[row],      table_.op[row],
                     table_.state[row],   table_.waits_for[row]};
    const auto [at, is_new] = known_.try_emplace(key, waits_.size());
    if (is_new) waits_.push_back({.row = row});
    SharedWait& wait = waits_[at->second];
    wait.ranks.push_back(table_.rank[row]);
    const int64_t age =
        PendingAge(model_, ends_, static_cast<size_t>(table_.op_row[row]), table_.age_ns[row]);
    if (age == kNone64) return;
    wait.oldest_ns = std::max(wait.oldest_ns, age);
    wait.newest_ns = wait.newest_ns == kNone64 ? age : std::min(wait.newest_ns, age);
  }

  const Model& model_;
  const SequencePool<int64_t, ListId>& lists_;
  const FirstIncompleteTable& table_;
  const AttemptEnds ends_;
  std::map<Key, size_t> known_;
  std::vector<SharedWait> waits_;
};

class WaitWriter : TextIsland {
 public:
  explicit WaitWriter(const Model& model)
      : TextIsland(model, kWaitTextBytes), table_(model.tables.Get<FirstIncompleteTable>()) {}

  std::string Write() {
    const std::vector<SharedWait> waits = WaitCollector(model_).Collect();
    const size_t shown = std::min(waits.size(), kMostWaits);
    json_.Objects("waits", std::span(waits).first(shown),
                  [&](const SharedWait& wait) { WriteWait(wait); });
    json_.Field("left_out", waits.size() - shown);
    return Finish();
  }

 private:
  void WriteWait(const SharedWait& wait) {
    const size_t row = wait.row;
    json_.Field("job", table_.job[row]).Field("attempt", table_.attempt[row]);
    json_.Field("name", Text(table_.group_name[row])).Field("desc", Text(table_.group_desc[row]));
    const std::string_view op = timeline::PublicOp(model_.pools.Text(table_.op[row]));
    json_.Field("seq", table_.seq[row]).Field("op", texts_.Add(std::string(op)));
    json_.Field("state", Text(table_.state[row])).Field("oldest_ns", wait.oldest_ns);
    json_.Field("newest_ns", wait.newest_ns);
    const auto on = model_.pools.lists.Get(table_.waits_for[wait.row]);
    WriteBounded("ranks", wait.ranks);
    WriteBounded("on", on);
    json_.Field("waits", on.size());
  }

  // Hostile lists have no regular runs.
  void WriteBounded(std::string_view key, std::span<const int64_t> ranks) {
    const size_t most = std::min({ranks.size(), kRunsOfOne, kMostRuns - runs_});
    runs_ += most;
    WriteRuns(json_, key, ranks, most);
  }

  const FirstIncompleteTable& table_;
  size_t runs_ = 0;
};

}  // namespace

std::string WaitsJson(const Model& model) { return WaitWriter(model).Write(); }

}  // namespace debrief::outputs::html
