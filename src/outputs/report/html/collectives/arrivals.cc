// Writes lateness by rank and sequence, once from dumps and once from profiles.
//
//   {"texts": ["mesh_dp", "all_reduce"],
//    "flight": {"groups": [{"job": 0, "attempt": 0, "name": 0, "desc": 0, "members": [[5, 2, 2]],
//                           "total": 400, "seq": [15, 16], "op": [1, 1],
//                           "late_us": [[0, 12300], [410, -1]]}], "left_out": 0},
//    "profile": {...}}
//
// late_us is by member, then by sequence: microseconds behind the first member, with three digits,
// which is more than any clock of a cluster deserves; -1 where a rank has no time. From dumps it is
// when the host issued the op, with the correction of the rank's clock that comm_arrival tells;
// from profiles when the op began, as timeline_clock aligned it. Sends and receives of dumps have
// no sequence in common, so they are left out there.
//
// 512 ranks with 2000 entries each are a million cells: a group keeps its last sequences, groups
// that findings name and then the largest come first, and what is beyond the budget is counted.
// Cost: one pass over comm_call and one over profile_collective_wait.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "outputs/comm_index.h"
#include "outputs/report/html/collectives/collectives.h"
#include "tables/comm_arrival.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kTextBytes = 100'000;
constexpr size_t kMostGroups = 64;
constexpr size_t kMostCells = 400'000;  // of dumps, and of profiles
constexpr size_t kSteps[] = {500, 250, 120, 60, 30};

// One collective: a row of comm_match or of profile_collective_match.
struct Collective {
  int64_t seq = 0;
  size_t row = 0;
  StringId op = StringId::kNone;
};

struct ArrivalGroup {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  StringId name = StringId::kNone;
  StringId desc = StringId::kNone;
  std::vector<int64_t> ranks;  // sorted
  bool is_named = false;       // by a finding
  std::vector<Collective> collectives;
  size_t total = 0;            // before some were left out
  std::vector<int64_t> times;  // by rank, then by collective; kNone64 where not told
};

// Times of broken dumps are anywhere; those that are believed can be subtracted.
bool IsTime(int64_t ns) { return ns > 0 && ns < (int64_t{1} << 62); }

// Groups while they are found, then while their times are filled in.
class ArrivalGroups {
 public:
  explicit ArrivalGroups(const Model& model) : model_(model) {
    for (const Finding& finding : model.findings) {
      for (const GroupRef& group : finding.groups) named_.insert(group.name);
    }
  }

  void Add(int32_t job, int32_t attempt, StringId name, StringId desc, ListId members,
           Collective collective) {
    const Key key = {job, attempt, name, desc, members};
    const auto [at, is_new] = known_.try_emplace(key, groups_.size());
    if (is_new) {
      const auto list = model_.pools.lists.Get(members);
      ArrivalGroup& group = groups_.emplace_back();
      group = {.job = job, .attempt = attempt, .name = name, .desc = desc};
      group.ranks.assign(list.begin(), list.end());
      std::sort(group.ranks.begin(), group.ranks.end());
      group.is_named = named_.contains(model_.pools.Text(name));
    }
    groups_[at->second].collectives.push_back(collective);
  }

  // Leaves out what is beyond the bounds. Nothing is added afterwards.
  void Choose() {
    std::erase_if(groups_, [](const ArrivalGroup& one) { return one.ranks.size() < 2; });
    std::stable_sort(groups_.begin(), groups_.end(), [](const auto& a, const auto& b) {
      return std::tuple(!a.is_named, b.ranks.size()) < std::tuple(!b.is_named, a.ranks.size());
    });
    left_out_ = groups_.size();
    if (groups_.size() > kMostGroups) groups_.resize(kMostGroups);
    const size_t most = MostColumns();
    for (ArrivalGroup& group : groups_) KeepLast(group, most);
    left_out_ -= groups_.size();
    for (size_t g = 0; g < groups_.size(); ++g) {
      ArrivalGroup& group = groups_[g];
      for (size_t c = 0; c < group.collectives.size(); ++c) {
        const size_t row = group.collectives[c].row;
        if (row >= places_.size()) places_.resize(row + 1, {kNoGroup, 0});
        places_[row] = {g, c};
      }
    }
  }

  // `row` is that of a collective.
  void SetTime(size_t row, int64_t rank, int64_t time) {
    if (row >= places_.size() || places_[row].first == kNoGroup || !IsTime(time)) return;
    const auto [place, column] = places_[row];
    ArrivalGroup& group = groups_[place];
    const auto member = std::lower_bound(group.ranks.begin(), group.ranks.end(), rank);
    if (member == group.ranks.end() || *member != rank) return;
    const auto index = static_cast<size_t>(member - group.ranks.begin());
    int64_t& cell = group.times[index * group.collectives.size() + column];
    if (cell == kNone64 || time < cell) cell = time;  // of a region its first op
  }

  const std::vector<ArrivalGroup>& groups() const { return groups_; }
  size_t left_out() const { return left_out_; }

 private:
  using Key = std::tuple<int32_t, int32_t, StringId, StringId, ListId>;

  // The most columns that the budget allows for all groups; when even few are too many, groups at
  // the end are dropped.
  size_t MostColumns() {
    for (size_t most : kSteps)
      if (CellsWith(most) <= kMostCells) return most;
    const size_t least = kSteps[std::size(kSteps) - 1];
    while (groups_.size() > 1 && CellsWith(least) > kMostCells) groups_.pop_back();
    return groups_.empty()
               ? least
               : std::min(least, kMostCells / std::max<size_t>(1, groups_.front().ranks.size()));
  }

  size_t CellsWith(size_t most) const {
    size_t cells = 0;
    for (const ArrivalGroup& group : groups_)
      cells += group.ranks.size() * std::min(most, group.collectives.size());
    return cells;
  }

  static void KeepLast(ArrivalGroup& group, size_t most) {
    std::sort(group.collectives.begin(), group.collectives.end(),
              [](const Collective& a, const Collective& b) {
                return std::tie(a.seq, a.row) < std::tie(b.seq, b.row);
              });
    group.total = group.collectives.size();
    if (group.total > most) {
      group.collectives.erase(group.collectives.begin(),
                              group.collectives.end() - static_cast<std::ptrdiff_t>(most));
    }
    group.times.assign(group.ranks.size() * group.collectives.size(), kNone64);
  }

  const Model& model_;
  std::set<std::string, std::less<>> named_;
  std::map<Key, size_t> known_;  // while they are found
  std::vector<ArrivalGroup> groups_;
  static constexpr size_t kNoGroup = static_cast<size_t>(-1);
  std::vector<std::pair<size_t, size_t>> places_;  // by row: group, column
  size_t left_out_ = 0;
};

// What to take off the times of ranks, by job, attempt and rank.
std::map<std::tuple<int32_t, int32_t, int32_t>, int64_t> CorrectionsOf(const Model& model) {
  const auto& table = model.tables.Get<CommArrivalTable>();
  std::map<std::tuple<int32_t, int32_t, int32_t>, int64_t> corrections;
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t correction = table.clock_correction_ns[i];
    if (correction != kNone64 && correction != 0)
      corrections[{table.job[i], table.attempt[i], table.rank[i]}] = correction;
  }
  return corrections;
}

void CollectFlight(const Model& model, ArrivalGroups& groups) {
  const auto& matches = model.tables.Get<CommMatchTable>();
  for (size_t row = 0; row < matches.size(); ++row) {
    if (model.pools.Text(matches.kind[row]) == "p2p") continue;
    groups.Add(matches.job[row], matches.attempt[row], matches.group_name[row],
               matches.group_desc[row], matches.members[row],
               {.seq = matches.seq[row], .row = row, .op = matches.op[row]});
  }
  groups.Choose();
  const auto& calls = model.tables.Get<CommCallTable>();
  const auto& ops = model.tables.Get<CommOpTable>();
  const MatchRows rows(matches);
  const auto corrections = CorrectionsOf(model);
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto op = static_cast<size_t>(calls.op_row[i]);
    const size_t row = rows.Find(calls.match[i]);
    if (op >= ops.size() || row == MatchRows::kNoRow || !IsTime(ops.created_ns[op])) continue;
    const auto found = corrections.find({ops.job[op], ops.attempt[op], ops.rank[op]});
    const int64_t correction = found == corrections.end() ? 0 : found->second;
    groups.SetTime(row, ops.rank[op], ops.created_ns[op] - correction);
  }
}

void CollectProfile(const Model& model, ArrivalGroups& groups) {
  const auto& matches = model.tables.Get<ProfileCollectiveMatchTable>();
  std::unordered_map<int64_t, size_t> rows;
  for (size_t row = 0; row < matches.size(); ++row) {
    const bool has_members = matches.members[row] != ListId::kNone;
    const int64_t seq = matches.seq[row] == kNone64 ? matches.position[row] : matches.seq[row];
    groups.Add(matches.job[row], matches.attempt[row], matches.group_name[row],
               matches.group_desc[row], has_members ? matches.members[row] : matches.ranks[row],
               {.seq = seq, .row = row, .op = matches.op[row]});
    rows[matches.match[row]] = row;
  }
  groups.Choose();
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  for (size_t i = 0; i < waits.size(); ++i) {
    const auto at = rows.find(waits.match[i]);
    if (at != rows.end()) groups.SetTime(at->second, waits.rank[i], waits.start_ns[i]);
  }
}

// Microseconds with three digits.
int64_t RoundedUs(int64_t ns) {
  int64_t us = (ns + 500) / 1000;
  int64_t unit = 1;
  while (us / unit >= 1000) unit *= 10;
  return (us + unit / 2) / unit * unit;
}

class ArrivalWriter : TextIsland {
 public:
  explicit ArrivalWriter(const Model& model) : TextIsland(model, kTextBytes) {}
  using TextIsland::Finish;

  void Write(std::string_view key, const ArrivalGroups& groups) {
    json_.Key(key).BeginObject();
    json_.Objects("groups", groups.groups(), [&](const ArrivalGroup& one) { WriteGroup(one); });
    json_.Field("left_out", groups.left_out()).EndObject();
  }

 private:
  void WriteGroup(const ArrivalGroup& group) {
    std::vector<int64_t> seq, op;
    for (const Collective& one : group.collectives) {
      seq.push_back(one.seq);
      op.push_back(Text(one.op));
    }
    json_.Field("job", group.job).Field("attempt", group.attempt);
    json_.Field("name", Text(group.name)).Field("desc", Text(group.desc));
    json_.Field("total", group.total).ListField("seq", seq).ListField("op", op);
    WriteRuns(json_, "members", group.ranks, group.ranks.size());
    WriteLate(group);
  }

  void WriteLate(const ArrivalGroup& group) {
    const size_t columns = group.collectives.size();
    const std::vector<int64_t> first = FirstTimes(group);
    json_.Key("late_us").BeginArray();
    for (size_t row = 0; row < group.ranks.size(); ++row) {
      json_.BeginArray();
      for (size_t column = 0; column < columns; ++column) {
        const int64_t time = group.times[row * columns + column];
        json_.Value(time == kNone64 ? int64_t{-1} : RoundedUs(time - first[column]));
      }
      json_.EndArray();
    }
    json_.EndArray();
  }

  static std::vector<int64_t> FirstTimes(const ArrivalGroup& group) {
    const size_t columns = group.collectives.size();
    std::vector<int64_t> first(columns, kNone64);
    for (size_t i = 0; i < group.times.size(); ++i) {
      int64_t& least = first[i % columns];
      if (group.times[i] == kNone64) continue;
      least = least == kNone64 ? group.times[i] : std::min(least, group.times[i]);
    }
    return first;
  }
};

}  // namespace

std::string ArrivalsJson(const Model& model) {
  ArrivalGroups flight(model), profile(model);
  CollectFlight(model, flight);
  CollectProfile(model, profile);
  ArrivalWriter writer(model);
  writer.Write("flight", flight);
  writer.Write("profile", profile);
  return writer.Finish();
}

}  // namespace debrief::outputs::html
