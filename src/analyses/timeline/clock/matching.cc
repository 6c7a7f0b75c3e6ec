#include "analyses/timeline/clock/matching.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>

#include "base/stats/statistics.h"
#include "model/timeline/view.h"
#include "tables/timeline.h"

namespace debrief::analyses::timeline_clock {

namespace {

// Group, and of sends and receives the channel.
using GroupKey = std::tuple<StringId, ListId, int32_t, int32_t>;

int32_t OtherMember(const Model& model, ListId members, int32_t rank) {
  std::span<const int64_t> ranks = model.pools.lists.Get(members);
  if (ranks.size() != 2) return kNone32;
  return static_cast<int32_t>(ranks[0] == rank ? ranks[1] : ranks[0]);
}

GroupKey KeyOf(const Model& model, const ProfileCollectiveTable& table, size_t row) {
  std::string_view op = model.pools.Text(table.op[row]);
  int32_t from = kNone32;
  int32_t to = kNone32;
  if (op == "send" || op == "recv") {
    int32_t peer = table.peer[row];
    if (peer == kNone32) peer = OtherMember(model, table.members[row], table.rank[row]);
    from = op == "send" ? table.rank[row] : peer;
    to = op == "send" ? peer : table.rank[row];
  }
  return {table.group_name[row], table.members[row], from, to};
}

// Files of one rank that overlap in time are the same recording twice: one of them is matched.
bool Overlaps(const TimelineTable& timelines, size_t a, size_t b) {
  return timelines.start_ns[a] < timelines.end_ns[b] && timelines.start_ns[b] < timelines.end_ns[a];
}

struct Places {
  std::map<int32_t, std::pair<size_t, size_t>> node_of;  // by input: job, node
  std::vector<int32_t> repeated;                         // inputs that are not matched, sorted
};

size_t JobOf(const TimelineTable& timelines, size_t row, std::vector<Job>& jobs) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].job == timelines.job[row] && jobs[i].attempt == timelines.attempt[row]) return i;
  }
  jobs.push_back({.job = timelines.job[row], .attempt = timelines.attempt[row]});
  return jobs.size() - 1;
}

Places PlaceTimelines(const TimelineTable& timelines, std::vector<Job>& jobs) {
  Places places;
  std::map<std::pair<size_t, int32_t>, std::vector<size_t>> rows_of;  // by job and rank
  for (size_t row = 0; row < timelines.size(); ++row) {
    size_t job = JobOf(timelines, row, jobs);
    int32_t rank = timelines.rank[row];
    std::vector<size_t>& rows = rows_of[{job, rank}];
    if (std::any_of(rows.begin(), rows.end(),
                    [&](size_t other) { return Overlaps(timelines, row, other); }))
      places.repeated.push_back(timelines.input[row]);
    if (rows.empty() || rank == kNone32) jobs[job].nodes.push_back({.rank = rank, .inputs = {}});
    rows.push_back(row);
    size_t node = jobs[job].nodes.size() - 1;
    if (rows.size() > 1 && rank != kNone32) node = places.node_of[timelines.input[rows[0]]].second;
    jobs[job].nodes[node].inputs.push_back(timelines.input[row]);
    places.node_of[timelines.input[row]] = {job, node};
  }
  std::sort(places.repeated.begin(), places.repeated.end());
  return places;
}

// No member can end such an op before all have begun it.
bool Synchronises(std::string_view op) {
  return op == "all_reduce" || op == "all_gather" || op == "reduce_scatter" || op == "all_to_all" ||
         op == "barrier";
}

// The same, or the two ends of a channel.
bool OpsAgree(const Model& model, StringId a, StringId b) {
  auto is_end = [&](StringId op) {
    return model.pools.Text(op) == "send" || model.pools.Text(op) == "recv";
  };
  return a == b || (is_end(a) && is_end(b));
}

constexpr int64_t kFarthest = 64;    // shifts that are tried, in both directions
constexpr int64_t kSample = 128;     // places at which lanes are compared
constexpr double kSameEnough = 0.5;  // below this share of agreement nothing is matched
constexpr double kNearBest = 0.98;   // shifts that agree nearly as well are told apart by time
constexpr int64_t kNegligibleNs = 50'000;  // spreads closer than this do not tell shifts apart
constexpr int64_t kSameClockNs = 500'000;  // clocks of one cluster are not farther apart
constexpr double kMostPlaces = 0.5;        // that lie in the step of the same number

class Comparison {
 public:
  Comparison(const Model& model, const Lane& reference, const Lane& lane)
      : model_(model),
        table_(model.tables.Get<ProfileCollectiveTable>()),
        reference_(reference),
        lane_(lane) {}

  // Place i of the lane is place i + shift of the reference.
  struct Outcome {
    double agreement = 0;  // share of places with the same op and size
    double same_step = 0;  // of these: share that both ranks have in the step of the same number
    int64_t spread_ns = 0;
    int64_t distance_ns = 0;  // of the clocks
    int64_t shift = 0;
  };

  Outcome Try(int64_t shift, bool with_times) const {
    int64_t overlap = Overlap(shift);
    int64_t first = std::max<int64_t>(0, -shift);
    int64_t stride = std::max<int64_t>(1, overlap / kSample);
    int64_t compared = 0;
    int64_t agreed = 0;
    int64_t same_step = 0;
    std::vector<int64_t> distances;
    for (int64_t i = first; i < first + overlap; i += stride, ++compared) {
      size_t own = lane_.rows[static_cast<size_t>(i)];
      size_t other = reference_.rows[static_cast<size_t>(i + shift)];
      if (!Agree(own, other)) continue;
      ++agreed;
      if (table_.step[own] != kNone32 && table_.step[own] == table_.step[other]) ++same_step;
      if (with_times) distances.push_back(EndOf(table_, own) - EndOf(table_, other));
    }
    if (agreed == 0) return {};
    Outcome outcome = {.agreement = static_cast<double>(agreed) / static_cast<double>(compared),
                       .same_step = static_cast<double>(same_step) / static_cast<double>(agreed),
                       .spread_ns = MeanDeviation(distances),
                       .shift = shift};
    if (with_times) outcome.distance_ns = Median(std::move(distances));
    return outcome;
  }

  // kNone64 when no shift makes them agree.
  int64_t Best() const {
    std::vector<std::pair<int64_t, double>> tried;  // shift, agreement
    double best = 0;
    for (int64_t shift : Shifts()) {
      tried.emplace_back(shift, Try(shift, false).agreement);
      best = std::max(best, tried.back().second);
    }
    if (best < kSameEnough) return kNone64;
    std::vector<Outcome> alike;
    for (auto [shift, agreement] : tried) {
      if (agreement >= best * kNearBest) alike.push_back(Try(shift, true));
    }
    return Choose(alike);
  }

 private:
  // Those around none, and those around the one under which steps of the same number meet.
  std::vector<int64_t> Shifts() const {
    auto shorter = static_cast<int64_t>(std::min(lane_.rows.size(), reference_.rows.size()));
    const int64_t least = std::max<int64_t>(1, shorter / 2);  // places that are left to compare
    std::set<int64_t> shifts;
    for (int64_t middle : {int64_t{0}, ShiftBySteps()}) {
      for (int64_t shift = middle - kFarthest; shift <= middle + kFarthest; ++shift) {
        if (Overlap(shift) >= least) shifts.insert(shift);
      }
    }
    return {shifts.begin(), shifts.end()};
  }

  // 0 when numbers of steps do not tell.
  int64_t ShiftBySteps() const {
    const int32_t step = table_.step[lane_.rows[lane_.rows.size() / 2]];
    if (step == kNone32) return 0;
    auto first = [&](const Lane& lane) {
      return std::ranges::find(lane.rows, step, [&](size_t row) { return table_.step[row]; }) -
             lane.rows.begin();
    };
    const auto other = first(reference_);
    if (other == static_cast<std::ptrdiff_t>(reference_.rows.size())) return 0;
    return other - first(lane_);
  }

  // Steps that repeat themselves agree under many shifts. Ends spread least under the right one,
  // but of steady steps hardly less than under others. Then the numbers of the steps tell, where
  // most places have the same one; else clocks that agree; else that recordings mostly begin
  // together.
  static int64_t Choose(const std::vector<Outcome>& alike) {
    const Outcome& steadiest = *std::ranges::min_element(alike, {}, [](const Outcome& each) {
      return std::tuple(each.spread_ns, std::abs(each.shift), each.shift);
    });
    const int64_t limit = 2 * steadiest.spread_ns + kNegligibleNs;
    const Outcome* chosen = nullptr;
    auto rank = [](const Outcome& each) {
      return std::tuple(each.same_step >= kMostPlaces ? each.same_step : 0,
                        std::abs(each.distance_ns) <= kSameClockNs, each.shift == 0);
    };
    for (const Outcome& each : alike) {
      if (each.spread_ns > limit) continue;
      if (chosen == nullptr || rank(each) > rank(*chosen)) chosen = &each;
    }
    const bool is_told = rank(*chosen) > std::tuple(0.0, false, false);
    return is_told ? chosen->shift : steadiest.shift;
  }

  bool Agree(size_t a, size_t b) const {
    return OpsAgree(model_, table_.op[a], table_.op[b]) && table_.bytes[a] == table_.bytes[b];
  }

  int64_t Overlap(int64_t shift) const {
    auto own = static_cast<int64_t>(lane_.rows.size());
    auto other = static_cast<int64_t>(reference_.rows.size());
    return std::min(own, other - shift) - std::max<int64_t>(0, -shift);
  }

  const Model& model_;
  const ProfileCollectiveTable& table_;
  const Lane& reference_;
  const Lane& lane_;
};

bool HasSequence(const ProfileCollectiveTable& table, const Group& group) {
  return std::all_of(group.lanes.begin(), group.lanes.end(), [&](const Lane& lane) {
    return std::all_of(lane.rows.begin(), lane.rows.end(),
                       [&](size_t row) { return table.seq[row] != kNone64; });
  });
}

struct Entry {
  int64_t slot = 0;
  int64_t repeat = 0;  // of the slot in its lane: kernels of one coalesced op share a number
  Presence presence;
};

std::vector<Entry> EntriesOf(const Group& group) {
  std::vector<Entry> entries;
  for (const Lane& lane : group.lanes) {
    int64_t repeat = 0;
    for (size_t i = 0; i < lane.rows.size(); ++i) {
      if (lane.slots[i] == kNone64) continue;
      repeat = i > 0 && lane.slots[i] == lane.slots[i - 1] ? repeat + 1 : 0;
      entries.push_back({lane.slots[i], repeat, {lane.node, lane.rows[i]}});
    }
  }
  auto key = [](const Entry& each) {
    return std::tuple(each.slot, each.repeat, each.presence.node, each.presence.row);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  return entries;
}

bool Agree(const Model& model, const Match& match) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  return std::all_of(match.present.begin(), match.present.end(), [&](const Presence& each) {
    return OpsAgree(model, table.op[each.row], table.op[match.present[0].row]);
  });
}

// When the host issued each collective; kNone64 when that is not known.
std::vector<int64_t> IssueTimes(const Model& model) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<int64_t> times(table.size(), kNone64);
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    const timeline::RowRange rows = timeline::RowsOf(table, view.who.input);
    for (size_t row = rows.begin; row < rows.end; ++row) {
      if (table.host_slice[row] != kNone32)
        times[row] = view.start[timeline::TimelineView::At(table.host_slice[row])];
    }
  }
  return times;
}

// All members issue the collectives of a group in the same order. They may begin in another one:
// gathering and reducing have streams of their own, and a slow device lets one of them fall behind.
void SortLane(const ProfileCollectiveTable& table, const std::vector<int64_t>& issued, Lane& lane) {
  const bool is_known =
      std::ranges::all_of(lane.rows, [&](size_t row) { return issued[row] != kNone64; });
  std::ranges::stable_sort(lane.rows, {}, [&](size_t row) {
    return std::pair(is_known ? issued[row] : 0, table.start_ns[row]);
  });
}

}  // namespace

std::vector<Job> FindJobs(const Model& model) {
  std::vector<Job> jobs;
  Places places = PlaceTimelines(model.tables.Get<TimelineTable>(), jobs);
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::map<std::pair<size_t, GroupKey>, size_t> group_of;
  std::map<std::pair<size_t, size_t>, std::map<size_t, size_t>> lane_of;  // job, group; node
  for (size_t row = 0; row < table.size(); ++row) {
    auto place = places.node_of.find(table.input[row]);
    if (place == places.node_of.end() || table.rank[row] == kNone32) continue;
    // A file of several ranks has one clock for all of them, as far as can be told.
    if (table.rank[row] != jobs[place->second.first].nodes[place->second.second].rank) continue;
    if (std::binary_search(places.repeated.begin(), places.repeated.end(), table.input[row]))
      continue;
    auto [job, node] = place->second;
    std::vector<Group>& groups = jobs[job].groups;
    auto [found, is_new] = group_of.try_emplace({job, KeyOf(model, table, row)}, groups.size());
    if (is_new) groups.emplace_back();
    Group& group = groups[found->second];
    auto [lane, first] = lane_of[{job, found->second}].try_emplace(node, group.lanes.size());
    if (first) group.lanes.push_back({.node = node, .rows = {}, .slots = {}});
    group.lanes[lane->second].rows.push_back(row);
  }
  const std::vector<int64_t> issued = IssueTimes(model);
  for (Job& job : jobs) {
    for (Group& group : job.groups) {
      for (Lane& lane : group.lanes) SortLane(table, issued, lane);
    }
  }
  return jobs;
}

void MatchLanes(const Model& model, Group& group) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  bool by_seq = HasSequence(table, group);
  const Lane& reference =
      *std::max_element(group.lanes.begin(), group.lanes.end(),
                        [](const Lane& a, const Lane& b) { return a.rows.size() < b.rows.size(); });
  for (Lane& lane : group.lanes) {
    lane.slots.assign(lane.rows.size(), kNone64);
    int64_t shift = by_seq || &lane == &reference ? 0 : Comparison(model, reference, lane).Best();
    if (shift == kNone64) continue;
    for (size_t i = 0; i < lane.rows.size(); ++i)
      lane.slots[i] = by_seq ? table.seq[lane.rows[i]] : static_cast<int64_t>(i) + shift;
  }
}

std::vector<Match> FindMatches(const Model& model, const Job& job) {
  const auto& table = model.tables.Get<ProfileCollectiveTable>();
  std::vector<Match> matches;
  for (size_t group = 0; group < job.groups.size(); ++group) {
    if (job.groups[group].lanes.size() < 2) continue;
    std::vector<Entry> entries = EntriesOf(job.groups[group]);
    for (size_t i = 0; i < entries.size();) {
      Match match{.group = group, .slot = entries[i].slot, .present = {}};
      match.on_device = true;
      int64_t repeat = entries[i].repeat;
      for (; i < entries.size() && entries[i].slot == match.slot && entries[i].repeat == repeat;
           ++i) {
        match.present.push_back(entries[i].presence);
        match.on_device = match.on_device && table.on_device[entries[i].presence.row] != 0;
      }
      match.synchronises = Synchronises(model.pools.Text(table.op[match.present[0].row]));
      if (match.present.size() > 1 && Agree(model, match)) matches.push_back(std::move(match));
    }
  }
  return matches;
}

}  // namespace debrief::analyses::timeline_clock
