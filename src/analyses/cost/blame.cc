#include "analyses/cost/blame.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::analyses::cost {

namespace {

__extension__ using Int128 = __int128;  // products of two times

// Waiting divides into few causes; smaller ones are left unexplained.
constexpr size_t kMostBlames = 8;
// How many waits of a rank are looked back at for what it inherited.
constexpr size_t kLookBack = 4096;
constexpr size_t kNoDivision = static_cast<size_t>(-1);

using Sums = std::map<Culprit, int64_t>;

// One rank at one matched collective, on its own clock.
struct Presence {
  size_t division = kNoDivision;
  Interval time;
  int64_t exposed_ns = 0;       // waiting that is not hidden, in windows or not
  StateTimes at_begin, at_end;  // since the begin of the recording
};

// What a rank did since a collective.
struct Since {
  StateTimes own;
  Sums waits;
};

class Blamer {
 public:
  Blamer(const Model& model, const std::vector<Division>& divisions)
      : model_(model),
        divisions_(divisions),
        matches_(model.tables.Get<ProfileCollectiveMatchTable>()),
        waits_(model.tables.Get<ProfileCollectiveWaitTable>()),
        presences_(waits_.size()),
        results_(waits_.size()),
        resolved_(divisions.size()) {}

  std::vector<WaitBlame> Find() {
    Locate();
    for (size_t i = 0; i < divisions_.size(); ++i) Measure(i);
    for (const auto& [begin, end] : RangesByTime()) Resolve(begin, end);
    for (WaitBlame& result : results_) result.blames = Scaled(result.blames, result.lost_ns);
    return std::move(results_);
  }

 private:
  void Locate() {
    std::unordered_map<int32_t, size_t> by_input;
    for (size_t i = 0; i < divisions_.size(); ++i) by_input[divisions_[i].who.input] = i;
    const auto& collectives = model_.tables.Get<ProfileCollectiveTable>();
    of_division_.resize(divisions_.size());
    for (size_t row = 0; row < waits_.size(); ++row) {
      auto found = by_input.find(waits_.input[row]);
      if (found == by_input.end()) continue;
      auto collective = static_cast<size_t>(waits_.collective[row]);
      int64_t begin = collectives.start_ns[collective];
      presences_[row].division = found->second;
      presences_[row].time = {begin,
                              begin + std::max<int64_t>(0, collectives.duration_ns[collective])};
      of_division_[found->second].push_back(row);
    }
  }

  // Times in states at the begins and ends of the collectives of a division: one sweep for each.
  void Measure(size_t division) {
    std::vector<size_t>& rows = of_division_[division];
    auto sweep = [&](int64_t Interval::* edge, StateTimes Presence::* result) {
      std::sort(rows.begin(), rows.end(), [&](size_t a, size_t b) {
        return std::tuple(presences_[a].time.*edge, a) < std::tuple(presences_[b].time.*edge, b);
      });
      StateTimes times;
      size_t at = 0;
      const std::vector<Segment>& segments = divisions_[division].segments;
      for (size_t row : rows) {
        const int64_t moment = presences_[row].time.*edge;
        for (; at < segments.size() && segments[at].time.end <= moment; ++at)
          times[segments[at].state] += segments[at].time.length();
        StateTimes& here = presences_[row].*result = times;
        if (at < segments.size() && segments[at].time.begin < moment)
          here[segments[at].state] += moment - segments[at].time.begin;
      }
    };
    sweep(&Interval::begin, &Presence::at_begin);
    sweep(&Interval::end, &Presence::at_end);
    for (const Segment& segment : divisions_[division].segments) {
      if (segment.state == State::kWait)
        presences_[static_cast<size_t>(segment.row)].exposed_ns += segment.time.length();
    }
    ForEachInWindows(divisions_[division], [&](const Segment& segment, int64_t ns) {
      if (segment.row == kNone64) return;
      if (segment.state == State::kWait) results_[static_cast<size_t>(segment.row)].lost_ns += ns;
      if (segment.state == State::kTransfer)
        results_[static_cast<size_t>(segment.row)].transfer_ns += ns;
    });
  }

  // Rows of each match whose waiting is known, those first that began to move data first.
  std::vector<std::pair<size_t, size_t>> RangesByTime() const {
    std::vector<std::pair<size_t, size_t>> ranges;
    for (size_t begin = 0; begin < waits_.size();) {
      size_t end = begin;
      while (end < waits_.size() && waits_.match[end] == waits_.match[begin]) ++end;
      const size_t match = MatchOf(begin);
      if (matches_.synchronises[match] != 0 || model_.pools.Text(matches_.op[match]) == "send_recv")
        ranges.emplace_back(begin, end);
      begin = end;
    }
    auto begin_of = [&](size_t row) { return matches_.last_start_ns[MatchOf(row)]; };
    std::stable_sort(ranges.begin(), ranges.end(), [&](const auto& a, const auto& b) {
      return begin_of(a.first) < begin_of(b.first);
    });
    return ranges;
  }

  size_t MatchOf(size_t row) const { return static_cast<size_t>(waits_.match[row]); }

  void Resolve(size_t begin, size_t end) {
    size_t last = begin;
    for (size_t row = begin; row < end; ++row) {
      if (waits_.start_ns[row] > waits_.start_ns[last]) last = row;
    }
    std::vector<size_t> rows;
    for (size_t row = begin; row < end; ++row) {
      if (presences_[row].division != kNoDivision) rows.push_back(row);
    }
    auto& before = last_rows_[GroupOf(begin)];
    Since of_last = presences_[last].division == kNoDivision ? Since{} : SinceBefore(last, before);
    for (size_t row : rows) {
      results_[row].last_rank = waits_.rank[last];
      if (row != last && presences_[row].exposed_ns > 0)
        BlameOne(row, last, of_last, SinceBefore(row, before));
    }
    for (size_t row : rows) {
      before[presences_[row].division] = row;
      if (!results_[row].blames.empty()) resolved_[presences_[row].division].push_back(row);
    }
  }

  // Collectives with the same members that are recorded.
  using GroupKey = std::tuple<int32_t, int32_t, StringId, ListId>;
  GroupKey GroupOf(size_t row) const {
    size_t match = MatchOf(row);
    return {matches_.job[match], matches_.attempt[match], matches_.group_name[match],
            matches_.ranks[match]};
  }

  Since SinceBefore(size_t row, const std::unordered_map<size_t, size_t>& before) const {
    const Presence& here = presences_[row];
    Since since{.own = here.at_begin, .waits = {}};
    auto found = before.find(here.division);
    int64_t from = kNone64;
    if (found != before.end()) {
      const Presence& there = presences_[found->second];
      from = there.time.end;
      for (size_t i = 0; i < kStates; ++i)
        since.own.ns[i] = std::max<int64_t>(0, since.own.ns[i] - there.at_end.ns[i]);
    }
    const std::vector<size_t>& resolved = resolved_[here.division];
    const size_t least = resolved.size() > kLookBack ? resolved.size() - kLookBack : 0;
    for (size_t i = resolved.size(); i > least; --i) {
      if (presences_[resolved[i - 1]].time.end <= from) break;
      for (const Blame& blame : results_[resolved[i - 1]].blames)
        since.waits[blame.culprit] += blame.ns;
    }
    return since;
  }

  void BlameOne(size_t row, size_t last, const Since& of_last, const Since& own) {
    const int32_t late = waits_.rank[last], rank = waits_.rank[row];
    Sums more;  // of the last one
    for (size_t i = 0; i < kStates; ++i) {
      auto state = static_cast<State>(i);
      if (state == State::kWait) continue;
      State as = state == State::kUndivided ? State::kTransfer : state;
      more[{late, as}] += of_last.own.ns[i] - own.own.ns[i];
    }
    // Waiting of the two for each other cancels against the states that it was for.
    for (const auto& [culprit, ns] : of_last.waits)
      more[{culprit.rank == rank ? late : culprit.rank, culprit.state}] += ns;
    for (const auto& [culprit, ns] : own.waits)
      more[{culprit.rank == rank ? late : culprit.rank, culprit.state}] -= ns;
    results_[row].blames = Explain(more, {late, State::kUnknown}, presences_[row].exposed_ns);
  }

  // The largest first, as far as there is waiting to explain: what is more in one state and less in
  // another cancels, and which of it does is least doubtful of the small ones.
  static std::vector<Blame> Explain(const Sums& more, Culprit unexplained, int64_t waiting) {
    std::vector<Blame> blames;
    for (const auto& [culprit, ns] : more) {
      if (ns > 0) blames.push_back({culprit, ns});
    }
    std::stable_sort(blames.begin(), blames.end(),
                     [](const Blame& a, const Blame& b) { return a.ns > b.ns; });
    if (blames.size() > kMostBlames) blames.resize(kMostBlames);
    for (Blame& blame : blames) {
      blame.ns = std::min(blame.ns, waiting);
      waiting -= blame.ns;
    }
    std::erase_if(blames, [](const Blame& blame) { return blame.ns == 0; });
    if (waiting > 0) blames.push_back({unexplained, waiting});
    return blames;
  }

  const Model& model_;
  const std::vector<Division>& divisions_;
  const ProfileCollectiveMatchTable& matches_;
  const ProfileCollectiveWaitTable& waits_;
  std::vector<Presence> presences_;               // by row of waits_
  std::vector<WaitBlame> results_;                // likewise
  std::vector<std::vector<size_t>> of_division_;  // rows
  std::vector<std::vector<size_t>> resolved_;     // by division: rows with waiting, by time
  std::map<GroupKey, std::unordered_map<size_t, size_t>> last_rows_;  // by division
};

}  // namespace

std::vector<Blame> Scaled(const std::vector<Blame>& blames, int64_t total) {
  std::vector<Blame> scaled = blames;
  if (total <= 0 || blames.empty()) return {};
  int64_t sum = 0;
  for (const Blame& blame : scaled) sum += blame.ns;
  int64_t left = total;
  for (Blame& blame : scaled) {
    blame.ns = static_cast<int64_t>(static_cast<Int128>(blame.ns) * total / sum);
    left -= blame.ns;
  }
  scaled[0].ns += left;
  std::erase_if(scaled, [](const Blame& blame) { return blame.ns <= 0; });
  return scaled;
}

std::vector<WaitBlame> FindBlame(const Model& model, const std::vector<Division>& divisions) {
  return Blamer(model, divisions).Find();
}

}  // namespace debrief::analyses::cost
