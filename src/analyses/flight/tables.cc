// The tables comm_match, comm_call, first_incomplete, comm_arrival and comm_traffic.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>

#include "analyses/flight/arrivals/arrivals.h"
#include "analyses/flight/blocks.h"
#include "analyses/flight/cause.h"
#include "analyses/flight/matching/p2p_sizes.h"
#include "analyses/flight/matching/region.h"
#include "analyses/flight/waits/waits.h"
#include "analyses/flight/words.h"
#include "tables/comm_arrival.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_traffic.h"
#include "tables/first_incomplete.h"
#include "torch/collective_names.h"

namespace debrief::analyses::flight {

namespace {

// Rows with texts and lists translated into the pools of the part.
class RowWriter {
 public:
  RowWriter(const Index& index, Part& part) : index_(index), part_(part) {}

 protected:
  template <typename Row>
  Row NewRow() const {
    Row row;
    row.job = index_.job;
    row.attempt = index_.attempt;
    return row;
  }

  // Every rank of a large group names it: its members are translated once.
  template <typename Row>
  void NameGroup(const Group& group, Row& row) {
    const GroupNames& names = NamesOf(group);
    row.group_name = names.name;
    row.group_desc = names.description;
    row.members = names.members;
    if constexpr (requires { row.role; }) row.role = names.role;
  }

  // Of a text that stays where it is. Rows repeat few of them: those seen last are known by their
  // address.
  StringId Intern(std::string_view text) {
    Seen& seen = seen_[reinterpret_cast<uintptr_t>(text.data()) / alignof(Seen) % seen_.size()];
    const bool is_known = seen.id != StringId::kNone && seen.text.data() == text.data() &&
                          seen.text.size() == text.size();
    if (!is_known) seen = {text, part_.pools.Intern(text)};
    return seen.id;
  }

  StringId Copy(StringId id) {
    return id == StringId::kNone ? StringId::kNone : Intern(index_.Text(id));
  }

  ListId Ranks(const std::vector<int32_t>& positions) {
    if (positions.empty() && nobody_ != ListId::kNone) return nobody_;
    list_.clear();
    for (int32_t position : positions) list_.push_back(index_.GlobalRank(position));
    if (!std::is_sorted(list_.begin(), list_.end())) std::sort(list_.begin(), list_.end());
    const ListId ranks = part_.pools.lists.Intern(list_);
    if (positions.empty()) nobody_ = ranks;
    return ranks;
  }

  const Index& index_;
  Part& part_;

 private:
  struct Seen {
    std::string_view text;
    StringId id = StringId::kNone;
  };

  struct GroupNames {
    StringId name = StringId::kNone;
    StringId description = StringId::kNone;
    StringId role = StringId::kNone;
    ListId members = ListId::kNone;
  };

  const GroupNames& NamesOf(const Group& group) {
    names_.resize(index_.groups.size());
    auto& names = names_[static_cast<size_t>(&group - index_.groups.data())];
    if (names) return *names;
    names = {.name = Copy(group.name),
             .description = Copy(group.description),
             .members = Ranks(group.members)};
    std::string_view role = RoleOf(index_, group);
    if (!role.empty()) names->role = part_.pools.Intern(role);
    return *names;
  }

  std::array<Seen, 32> seen_;
  std::vector<std::optional<GroupNames>> names_;  // beside Index::groups
  std::vector<int64_t> list_;
  ListId nobody_ = ListId::kNone;  // the empty list
};

// What is known of units while matches are written: beside Index::units.
struct MatchedUnits {
  MatchedUnits(const Index& index, const std::vector<Cause>& causes)
      : match(index.units.size(), -1), is_blamed(index.units.size()) {
    for (const Cause& cause : causes) {
      for (int32_t at : cause.units) {
        const Unit& unit = index.UnitAt(at);
        if (std::binary_search(cause.ranks.begin(), cause.ranks.end(), unit.rank))
          is_blamed[static_cast<size_t>(at)] = true;
      }
    }
  }

  std::vector<int32_t> match;
  std::vector<bool> is_blamed;
};

// Rows of comm_match.
class MatchRows : protected RowWriter {
 public:
  // `first_match` is the number of the match that would be the first row of the part.
  MatchRows(const Index& index, MatchedUnits& units, int64_t first_match, Part& part)
      : RowWriter(index, part),
        units_(units),
        first_match_(first_match),
        matches_(part.tables.Edit<CommMatchTable>()) {}

 protected:
  CommMatchRow NewMatch(const Group& group, std::string_view kind) {
    auto row = NewRow<CommMatchRow>();
    row.match = first_match_ + static_cast<int64_t>(matches_.size());
    NameGroup(group, row);
    row.kind = Intern(kind);
    return row;
  }

  void AddTimes(std::span<const int32_t> units, CommMatchRow& row) const {
    for (int32_t at : units) {
      const Unit& unit = index_.UnitAt(at);
      int64_t time = index_.ops.created_ns[unit.row];
      if (time == kNone64) continue;
      if (row.first_ns == kNone64 || time < row.first_ns) row.first_ns = time;
      if (row.last_ns == kNone64 || time > row.last_ns) {
        row.last_ns = time;
        row.last_rank = index_.GlobalRank(unit.rank);
      }
    }
  }

  std::vector<int32_t> BlamedIn(std::span<const int32_t> units) const {
    std::vector<int32_t> ranks;
    for (int32_t at : units) {
      if (units_.is_blamed[static_cast<size_t>(at)]) ranks.push_back(index_.UnitAt(at).rank);
    }
    return ranks;
  }

  void Finish(const CommMatchRow& row, std::span<const int32_t> units) {
    for (int32_t at : units)
      units_.match[static_cast<size_t>(at)] = static_cast<int32_t>(row.match);
    matches_.Add(row);
  }

  MatchedUnits& units_;

 private:
  int64_t first_match_;
  CommMatchTable& matches_;
};

// A match for every collective of some groups.
class CollectiveWriter : private MatchRows {
 public:
  using MatchRows::MatchRows;

  void Write(GroupBlock block) {
    for (size_t i = block.begin; i < block.end; ++i) {
      for (const SeqRow& row : index_.groups[i].rows) AddCollective(index_.groups[i], row);
    }
  }

 private:
  // Nearly all are: then nobody needs to be listed.
  bool IsCompletedByAll(const Group& group, std::span<const int32_t> units) const {
    if (units.size() != group.members.size()) return false;
    for (size_t i = 0; i < units.size(); ++i) {
      const Unit& unit = index_.UnitAt(units[i]);
      if (unit.rank != group.members[i] || !unit.completed()) return false;
    }
    return true;
  }

  void Divide(const Group& group, const SeqRow& seq_row, std::span<const int32_t> units) {
    auto& [joined, completed, missing, unknown] = sides_;
    size_t next = 0;
    for (int32_t rank : group.members) {
      while (next < units.size() && index_.UnitAt(units[next]).rank < rank) ++next;
      bool present = next < units.size() && index_.UnitAt(units[next]).rank == rank;
      if (present) {
        joined.push_back(rank);
        if (index_.UnitAt(units[next]).completed()) completed.push_back(rank);
      } else {
        bool never = index_.HasIssued(group, seq_row.seq, rank) == Index::Issued::kNo;
        (never ? missing : unknown).push_back(rank);
      }
    }
  }

  void AddCollective(const Group& group, const SeqRow& seq_row) {
    auto units = index_.UnitsOf(group, seq_row);
    auto& [joined, completed, missing, unknown] = sides_;
    for (std::vector<int32_t>* side : {&joined, &completed, &missing, &unknown}) side->clear();
    const bool by_all = IsCompletedByAll(group, units);
    if (!by_all) Divide(group, seq_row, units);
    const std::vector<int32_t> blamed = BlamedIn(units);
    const Unit& first = index_.UnitAt(RightOne(units, blamed));
    CommMatchRow row = NewMatch(group, first.region ? "region" : "collective");
    row.seq = seq_row.seq;
    if (!blamed.empty()) row.blamed = Ranks(blamed);
    row.op = Copy(index_.ops.op[first.row]);
    std::string_view mismatch = MismatchOf(units);
    if (!mismatch.empty()) row.mismatch = Intern(mismatch);
    bool all_completed = completed.size() == joined.size();
    row.status = Intern(!mismatch.empty()  ? "mismatch"
                        : !missing.empty() ? "waiting"
                        : all_completed    ? "completed"
                        : !unknown.empty() ? "unknown"
                                           : "running");
    row.joined = by_all || joined.size() == group.members.size() ? row.members : Ranks(joined);
    row.completed = all_completed ? row.joined : Ranks(completed);
    row.missing = Ranks(missing);
    row.unknown = Ranks(unknown);
    AddTimes(units, row);
    Finish(row, units);
  }

  // A member that nobody blames; the first when all are.
  int32_t RightOne(std::span<const int32_t> units, const std::vector<int32_t>& blamed) const {
    for (int32_t at : units) {
      int32_t rank = index_.UnitAt(at).rank;
      bool known = index_.UnitAt(at).signature != Signature{};
      if (known && std::find(blamed.begin(), blamed.end(), rank) == blamed.end()) return at;
    }
    return units.front();
  }

  std::string_view MismatchOf(std::span<const int32_t> units) const {
    const Unit& first = index_.UnitAt(units.front());
    const SignatureParts& mine = index_.signatures.Get(first.signature);
    for (int32_t at : units) {
      const Unit& other = index_.UnitAt(at);
      if (other.signature == first.signature || other.signature == Signature{}) continue;
      const SignatureParts& theirs = index_.signatures.Get(other.signature);
      if (mine.op != theirs.op) return "type";
      bool same_sizes =
          mine.input_sizes == theirs.input_sizes && mine.output_sizes == theirs.output_sizes;
      return same_sizes && !first.region ? "dtype" : "size";
    }
    return "";
  }

  // The members of a match by what they did; kept, since there are as many matches as operations.
  struct Sides {
    std::vector<int32_t> joined, completed, missing, unknown;
  };
  Sides sides_;
};

// The matches of sends and receives, and what follows from all matches.
class MatchWriter : private MatchRows {
 public:
  MatchWriter(const Index& index, const Waits& waits, MatchedUnits& units, Part& part)
      : MatchRows(index, units, 0, part),
        waits_(waits),
        calls_(part.tables.Edit<CommCallTable>()) {}

  void WriteAll() {
    for (const Channel& channel : index_.channels) AddChannel(channel);
    AddCalls();
    for (int32_t rank = 0; rank < index_.rank_count(); ++rank) AddIncomplete(rank);
  }

 private:
  void AddChannel(const Channel& channel) {
    for (int32_t send : channel.sends) AddPair(channel, send);
    for (int32_t receive : channel.receives) {
      if (index_.UnitAt(receive).peer < 0) AddPair(channel, receive);
    }
  }

  void AddPair(const Channel& channel, int32_t at) {
    const Unit& unit = index_.UnitAt(at);
    std::vector<int32_t> units = {at};
    if (unit.peer >= 0) units.push_back(unit.peer);
    CommMatchRow row = NewMatch(index_.GroupAt(channel.group), "p2p");
    row.seq = unit.seq;
    row.op = Copy(index_.ops.op[unit.row]);
    std::vector<int32_t> joined, completed, other;
    for (int32_t half : units) {
      const Unit& side = index_.UnitAt(half);
      joined.push_back(side.rank);
      if (side.completed()) completed.push_back(side.rank);
    }
    bool known = unit.peer < 0 && !unit.fell_out && index_.RankAt(unit.partner).has_dump;
    if (unit.peer < 0) other.push_back(unit.partner);
    bool differ = unit.peer >= 0 && !IsSameAmount(index_, unit, index_.UnitAt(unit.peer));
    if (differ) row.mismatch = part_.pools.Intern("size");
    if (const auto blamed = BlamedIn(units); !blamed.empty()) row.blamed = Ranks(blamed);
    row.status = part_.pools.Intern(differ                              ? "mismatch"
                                    : completed.size() == joined.size() ? "completed"
                                    : unit.peer >= 0                    ? "running"
                                    : known                             ? "waiting"
                                                                        : "unknown");
    row.joined = Ranks(joined);
    row.completed = Ranks(completed);
    row.missing = Ranks(known ? other : std::vector<int32_t>());
    row.unknown = Ranks(known ? std::vector<int32_t>() : other);
    AddTimes(units, row);
    Finish(row, units);
  }

  void AddCalls() {
    const std::vector<int32_t> regions = NumberRegions(index_);
    int32_t first_region = 0;  // most attempts have none
    for (size_t i = 0; i < calls_.size() && !regions.empty(); ++i)
      first_region = std::max(first_region, calls_.region[i] + 1);
    if (calls_.size() == 0) calls_.Reserve(index_.unit_of_row.size());  // else it grows by halves
    for (size_t i = 0; i < index_.unit_of_row.size(); ++i) {
      int32_t unit = index_.unit_of_row[i];
      if (unit < 0 || units_.match[static_cast<size_t>(unit)] < 0) continue;
      auto row = NewRow<CommCallRow>();
      row.rank = index_.GlobalRank(index_.UnitAt(unit).rank);
      row.op_row = static_cast<int32_t>(index_.first_row + static_cast<int64_t>(i));
      row.match = units_.match[static_cast<size_t>(unit)];
      if (!regions.empty() && regions[i] != kNone32) row.region = first_region + regions[i];
      calls_.Add(row);
    }
  }

  int64_t NewestTime(int32_t rank) const {
    int64_t newest = kNone64;
    for (const Unit& unit : index_.UnitsOf(rank)) {
      size_t row = unit.row;
      newest = std::max({newest, index_.ops.created_ns[row], index_.ops.completed_ns[row]});
    }
    return newest;
  }

  // The oldest pending unit of each group; the waits are those of the rank's oldest of all.
  void AddIncomplete(int32_t rank) {
    const RankInfo& info = index_.RankAt(rank);
    if (info.pending.empty()) return;
    std::unordered_set<int32_t> seen;
    const int64_t newest = NewestTime(rank);
    for (int32_t at : info.pending) {
      const Unit& unit = index_.UnitAt(at);
      if (!seen.insert(unit.group).second) continue;
      const Group& group = index_.GroupOf(unit);
      size_t op_row = unit.row;
      auto row = NewRow<FirstIncompleteRow>();
      row.rank = info.rank;
      NameGroup(group, row);
      row.seq = unit.seq;
      row.op = Copy(index_.ops.op[op_row]);
      row.state = Copy(index_.ops.state[op_row]);
      int64_t created = index_.ops.created_ns[op_row], age = 0;
      bool told = newest != kNone64 && created != kNone64;
      if (told && !__builtin_sub_overflow(newest, created, &age)) row.age_ns = age;
      row.op_row = unit.row;
      row.waits_for = WaitsFor(&unit == waits_.At(rank) ? waits_.PlaceOf(rank) : -1, rank);
      part_.tables.Edit<FirstIncompleteTable>().Add(row);
    }
  }

  // All who wait at one place wait for the same.
  ListId WaitsFor(int32_t place, int32_t rank) {
    auto [known, is_new] = waits_at_.try_emplace(place, ListId::kNone);
    if (!is_new) return known->second;
    std::vector<int32_t> on;
    if (place >= 0) {
      for (const Wait& wait : waits_.Of(rank)) on.push_back(wait.on);
    }
    return known->second = Ranks(on);
  }

  const Waits& waits_;
  CommCallTable& calls_;
  std::map<int32_t, ListId> waits_at_;  // by place
};

class ArrivalWriter : private RowWriter {
 public:
  using RowWriter::RowWriter;

  void WriteAll(const Arrivals& arrivals) {
    for (size_t rank = 0; rank < index_.ranks.size(); ++rank) {
      if (index_.ranks[rank].has_dump) AddRank(arrivals, rank);
    }
    for (const Traffic& traffic : arrivals.traffic) AddTraffic(traffic);
  }

 private:
  void AddRank(const Arrivals& arrivals, size_t rank) {
    const RankArrival& arrival = arrivals.ranks[rank];
    auto row = NewRow<CommArrivalRow>();
    row.rank = index_.ranks[rank].rank;
    row.clock_offset_ns = arrivals.clocks[rank].offset_ns;
    row.offset_spread_ns = arrivals.clocks[rank].spread_ns;
    row.clock_correction_ns = arrivals.clocks[rank].correction_ns();
    row.times_last = arrival.times_last;
    row.late_total_ns = arrival.total_ns;
    row.late_longest_ns = arrival.longest.front().late_ns;
    row.late_third_ns = arrival.longest.back().late_ns;
    part_.tables.Edit<CommArrivalTable>().Add(row);
  }

  void AddTraffic(const Traffic& traffic) {
    auto row = NewRow<CommTrafficRow>();
    NameGroup(index_.GroupAt(traffic.group), row);
    row.op = part_.pools.Intern(timeline::PublicOp(index_.Text(traffic.op)));
    row.count = traffic.count;
    row.input_bytes = traffic.input_bytes;
    row.output_bytes = traffic.output_bytes;
    row.slowest_ns = traffic.slowest_ns;
    if (traffic.slowest_seq != kNone32) row.slowest_seq = traffic.slowest_seq;
    row.median_ns = traffic.median_ns;
    row.median_spread_ns = traffic.median_spread_ns;
    row.longest_spread_ns = traffic.longest_spread_ns;
    part_.tables.Edit<CommTrafficTable>().Add(row);
  }
};

// Every row of a group is one match, so that blocks of groups know their numbers.
void AddCollectives(const Index& index, MatchedUnits& units, Part& part) {
  if (BlocksOf(index).size() == 1)
    return CollectiveWriter(index, units, 0, part).Write({0, index.groups.size()});
  std::vector<int64_t> first_match;  // by group
  auto next = static_cast<int64_t>(part.tables.Edit<CommMatchTable>().size());
  for (const Group& group : index.groups) {
    first_match.push_back(next);
    next += static_cast<int64_t>(group.rows.size());
  }
  ForBlocks<Part>(
      index,
      [&](GroupBlock block) {
        Part rows;
        CollectiveWriter(index, units, first_match[block.begin], rows).Write(block);
        return rows;
      },
      [&](Part&& rows) { part.Append(std::move(rows)); });
}

}  // namespace

void FillMatchTables(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                     Part& part) {
  MatchedUnits units(index, causes);
  AddCollectives(index, units, part);
  MatchWriter(index, waits, units, part).WriteAll();
}

void FillArrivalTables(const Index& index, const Arrivals& arrivals, Part& part) {
  ArrivalWriter(index, part).WriteAll(arrivals);
}

}  // namespace debrief::analyses::flight
