#include "analyses/profile/ranks/delays.h"

#include <algorithm>

#include "base/stats/statistics.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::profile_ranks {

namespace {

constexpr size_t kMatchesKept = 16;

// Time since the rank communicated last, by number of the collective; kNone64 for the first.
std::vector<int64_t> FindGaps(const Model& model) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<int64_t> gaps(table.size(), kNone64);
  int64_t last_end = kNone64;
  for (size_t row = 0; row < table.size(); ++row) {
    if (row > 0 && table.input[row] != table.input[row - 1]) last_end = kNone64;
    if (last_end != kNone64) gaps[row] = std::max<int64_t>(0, table.start_ns[row] - last_end);
    last_end = std::max(last_end, table.start_ns[row] + table.duration_ns[row]);
  }
  return gaps;
}

class Adder {
 public:
  explicit Adder(const Model& model)
      : model_(model),
        matches_(model.tables.Get<ProfileCollectiveMatchTable>()),
        waits_(model.tables.Get<ProfileCollectiveWaitTable>()),
        gaps_(FindGaps(model)) {}

  // Rows [begin, end) of the waits are those of one match.
  void Add(size_t begin, size_t end) {
    auto match = static_cast<size_t>(waits_.match[begin]);
    bool waits =
        matches_.synchronises[match] != 0 || model_.pools.Text(matches_.op[match]) == "send_recv";
    if (!waits || matches_.on_device[match] == 0) return;
    size_t last = begin;
    for (size_t row = begin; row < end; ++row) {
      if (waits_.start_ns[row] > waits_.start_ns[last]) last = row;
      Delays& delays = Of(row);
      ++delays.collectives;
      delays.wait_ns += waits_.wait_ns[row];
      if (waits_.rank[row] == matches_.first_rank[match]) ++delays.times_first;
    }
    AddLast(begin, end, last, match);
  }

  std::map<RankKey, Delays> Take() { return std::move(delays_); }

 private:
  Delays& Of(size_t row) {
    return delays_[{waits_.job[row], waits_.attempt[row], waits_.rank[row]}];
  }

  void AddLast(size_t begin, size_t end, size_t last, size_t match) {
    std::vector<int64_t> starts;
    std::vector<int64_t> gaps;
    int64_t waited = 0;
    for (size_t row = begin; row < end; ++row) {
      if (row == last) continue;
      starts.push_back(waits_.start_ns[row]);
      waited += waits_.wait_ns[row];
      int64_t gap = GapOf(row);
      if (gap != kNone64) gaps.push_back(gap);
    }
    Delays& delays = Of(last);
    ++delays.times_last;
    delays.caused_ns += waited / static_cast<int64_t>(starts.size());
    if (gaps.empty() || GapOf(last) == kNone64) return;
    int64_t late = waits_.start_ns[last] - Median(std::move(starts));
    int64_t own = std::min(late, GapOf(last) - Median(std::move(gaps)));
    if (own > 0) AddOwn(own, match, delays);
  }

  void AddOwn(int64_t own, size_t match, Delays& delays) {
    delays.own_ns += own;
    ++delays.times_late;
    LateAt& at = delays.where[{matches_.group_name[match], matches_.group_desc[match],
                               matches_.op[match], matches_.members[match]}];
    at.delay_ns += own;
    ++at.times;
    if (at.matches.size() < kMatchesKept) at.matches.push_back(static_cast<int64_t>(match));
  }

  int64_t GapOf(size_t row) const { return gaps_[static_cast<size_t>(waits_.collective[row])]; }

  const Model& model_;
  const ProfileCollectiveMatchTable& matches_;
  const ProfileCollectiveWaitTable& waits_;
  std::vector<int64_t> gaps_;
  std::map<RankKey, Delays> delays_;
};

}  // namespace

std::map<RankKey, Delays> FindDelays(const Model& model) {
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  Adder adder(model);
  for (size_t begin = 0; begin < waits.size();) {
    size_t end = begin;
    while (end < waits.size() && waits.match[end] == waits.match[begin]) ++end;
    if (end - begin > 1) adder.Add(begin, end);
    begin = end;
  }
  return adder.Take();
}

}  // namespace debrief::analyses::profile_ranks
