#include "analyses/flight/match_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/first_incomplete.h"

namespace debrief::analyses::flight {

namespace {

// Writes rows with texts and lists translated into the pools of the part.
class Writer {
 public:
  Writer(const Index& index, const Waits& waits, const std::vector<Cause>& causes, Part& part)
      : index_(index),
        waits_(waits),
        part_(part),
        matches_(part.tables.Edit<CommMatchTable>()),
        calls_(part.tables.Edit<CommCallTable>()),
        match_of_unit_(index.units.size(), -1) {
    for (const Cause& cause : causes) {
      for (int32_t at : cause.units) {
        const Unit& unit = index.units[static_cast<size_t>(at)];
        if (!std::binary_search(cause.ranks.begin(), cause.ranks.end(), unit.rank)) continue;
        blamed_[{unit.group, unit.seq}].push_back(unit.rank);
      }
    }
  }

  void WriteAll() {
    for (const Group& group : index_.groups) {
      for (const SeqRow& row : group.rows) AddCollective(group, row);
    }
    for (const Channel& channel : index_.channels) AddChannel(channel);
    AddCalls();
    for (int32_t rank = 0; rank < static_cast<int32_t>(index_.ranks.size()); ++rank)
      AddIncomplete(rank);
  }

 private:
  StringId Copy(StringId id) {
    return id == StringId::kNone ? StringId::kNone : part_.pools.Intern(index_.Text(id));
  }

  ListId Ranks(const std::vector<int32_t>& positions) {
    list_.clear();
    for (int32_t position : positions)
      list_.push_back(index_.ranks[static_cast<size_t>(position)].rank);
    std::sort(list_.begin(), list_.end());
    return part_.pools.lists.Intern(list_);
  }

  CommMatchRow NewMatch(const Group& group, std::string_view kind) {
    CommMatchRow row;
    row.job = index_.job;
    row.attempt = index_.attempt;
    row.match = static_cast<int64_t>(matches_.size());
    row.group_name = Copy(group.name);
    row.group_desc = Copy(group.description);
    std::string_view role = RoleOf(index_, group);
    if (!role.empty()) row.role = part_.pools.Intern(role);
    row.members = Ranks(group.members);
    row.kind = part_.pools.Intern(kind);
    return row;
  }

  void AddTimes(std::span<const int32_t> units, CommMatchRow& row) const {
    for (int32_t at : units) {
      const Unit& unit = index_.units[static_cast<size_t>(at)];
      int64_t time = index_.ops.created_ns[static_cast<size_t>(unit.row)];
      if (time == kNone64) continue;
      if (row.first_ns == kNone64 || time < row.first_ns) row.first_ns = time;
      if (row.last_ns == kNone64 || time > row.last_ns) {
        row.last_ns = time;
        row.last_rank = index_.ranks[static_cast<size_t>(unit.rank)].rank;
      }
    }
  }

  void AddCollective(const Group& group, const SeqRow& seq_row) {
    auto units = index_.UnitsOf(group, seq_row);
    std::vector<int32_t> joined, completed, missing, unknown;
    size_t next = 0;
    for (int32_t rank : group.members) {
      while (next < units.size() && index_.units[static_cast<size_t>(units[next])].rank < rank)
        ++next;
      bool present =
          next < units.size() && index_.units[static_cast<size_t>(units[next])].rank == rank;
      if (present) {
        joined.push_back(rank);
        if (index_.units[static_cast<size_t>(units[next])].completed()) completed.push_back(rank);
      } else {
        bool never = index_.HasIssued(group, seq_row.seq, rank) == Index::Issued::kNo;
        (never ? missing : unknown).push_back(rank);
      }
    }
    const std::vector<int32_t>& blamed = BlamedIn(group, seq_row.seq);
    const Unit& first = index_.units[static_cast<size_t>(RightOne(units, blamed))];
    CommMatchRow row = NewMatch(group, first.region ? "region" : "collective");
    row.seq = seq_row.seq;
    if (!blamed.empty()) row.blamed = Ranks(blamed);
    row.op = Copy(index_.ops.op[static_cast<size_t>(first.row)]);
    std::string_view mismatch = MismatchOf(units);
    if (!mismatch.empty()) row.mismatch = part_.pools.Intern(mismatch);
    bool all_completed = completed.size() == joined.size();
    row.status = part_.pools.Intern(!mismatch.empty()  ? "mismatch"
                                    : !missing.empty() ? "waiting"
                                    : all_completed    ? "completed"
                                    : !unknown.empty() ? "unknown"
                                                       : "running");
    row.joined = Ranks(joined);
    row.completed = all_completed ? row.joined : Ranks(completed);
    row.missing = Ranks(missing);
    row.unknown = Ranks(unknown);
    AddTimes(units, row);
    Finish(row, units);
  }

  const std::vector<int32_t>& BlamedIn(const Group& group, int32_t seq) const {
    static const std::vector<int32_t> kNobody;
    auto found = blamed_.find({static_cast<int32_t>(&group - index_.groups.data()), seq});
    return found == blamed_.end() ? kNobody : found->second;
  }

  // A member that nobody blames; the first when all are.
  int32_t RightOne(std::span<const int32_t> units, const std::vector<int32_t>& blamed) const {
    for (int32_t at : units) {
      int32_t rank = index_.units[static_cast<size_t>(at)].rank;
      bool known = index_.units[static_cast<size_t>(at)].signature != Signature{};
      if (known && std::find(blamed.begin(), blamed.end(), rank) == blamed.end()) return at;
    }
    return units.front();
  }

  std::string_view MismatchOf(std::span<const int32_t> units) const {
    const Unit& first = index_.units[static_cast<size_t>(units.front())];
    const SignatureParts& mine = index_.signatures.Get(first.signature);
    for (int32_t at : units) {
      const Unit& other = index_.units[static_cast<size_t>(at)];
      if (other.signature == first.signature || other.signature == Signature{}) continue;
      const SignatureParts& theirs = index_.signatures.Get(other.signature);
      if (mine.op != theirs.op) return "type";
      bool same_sizes =
          mine.input_sizes == theirs.input_sizes && mine.output_sizes == theirs.output_sizes;
      return same_sizes && !first.region ? "dtype" : "size";
    }
    return "";
  }

  void AddChannel(const Channel& channel) {
    for (int32_t send : channel.sends) AddPair(channel, send);
    for (int32_t receive : channel.receives) {
      if (index_.units[static_cast<size_t>(receive)].peer < 0) AddPair(channel, receive);
    }
  }

  void AddPair(const Channel& channel, int32_t at) {
    const Unit& unit = index_.units[static_cast<size_t>(at)];
    std::vector<int32_t> units = {at};
    if (unit.peer >= 0) units.push_back(unit.peer);
    CommMatchRow row = NewMatch(index_.groups[static_cast<size_t>(channel.group)], "p2p");
    row.seq = unit.seq;
    row.op = Copy(index_.ops.op[static_cast<size_t>(unit.row)]);
    std::vector<int32_t> joined, completed, other;
    for (int32_t half : units) {
      const Unit& side = index_.units[static_cast<size_t>(half)];
      joined.push_back(side.rank);
      if (side.completed()) completed.push_back(side.rank);
    }
    bool known =
        unit.peer < 0 && !unit.fell_out && index_.ranks[static_cast<size_t>(unit.partner)].has_dump;
    if (unit.peer < 0) other.push_back(unit.partner);
    row.status = part_.pools.Intern(completed.size() == joined.size() ? "completed"
                                    : unit.peer >= 0                  ? "running"
                                    : known                           ? "waiting"
                                                                      : "unknown");
    row.joined = Ranks(joined);
    row.completed = Ranks(completed);
    row.missing = Ranks(known ? other : std::vector<int32_t>());
    row.unknown = Ranks(known ? std::vector<int32_t>() : other);
    AddTimes(units, row);
    Finish(row, units);
  }

  void Finish(const CommMatchRow& row, std::span<const int32_t> units) {
    for (int32_t at : units)
      match_of_unit_[static_cast<size_t>(at)] = static_cast<int32_t>(row.match);
    matches_.Add(row);
  }

  void AddCalls() {
    calls_.Reserve(calls_.size() + index_.unit_of_row.size());
    for (size_t i = 0; i < index_.unit_of_row.size(); ++i) {
      int32_t unit = index_.unit_of_row[i];
      if (unit < 0 || match_of_unit_[static_cast<size_t>(unit)] < 0) continue;
      CommCallRow row;
      row.job = index_.job;
      row.attempt = index_.attempt;
      row.rank =
          index_.ranks[static_cast<size_t>(index_.units[static_cast<size_t>(unit)].rank)].rank;
      row.op_row = static_cast<int32_t>(index_.first_row + static_cast<int64_t>(i));
      row.match = match_of_unit_[static_cast<size_t>(unit)];
      calls_.Add(row);
    }
  }

  int64_t NewestTime(int32_t rank) const {
    int64_t newest = kNone64;
    for (const Unit& unit : index_.UnitsOf(rank)) {
      auto row = static_cast<size_t>(unit.row);
      newest = std::max({newest, index_.ops.created_ns[row], index_.ops.completed_ns[row]});
    }
    return newest;
  }

  // The oldest pending unit of each group; the waits are those of the rank's oldest of all.
  void AddIncomplete(int32_t rank) {
    const RankInfo& info = index_.ranks[static_cast<size_t>(rank)];
    std::vector<int32_t> seen;
    for (int32_t at : info.pending) {
      const Unit& unit = index_.units[static_cast<size_t>(at)];
      if (std::find(seen.begin(), seen.end(), unit.group) != seen.end()) continue;
      seen.push_back(unit.group);
      const Group& group = index_.groups[static_cast<size_t>(unit.group)];
      auto op_row = static_cast<size_t>(unit.row);
      FirstIncompleteRow row;
      row.job = index_.job;
      row.attempt = index_.attempt;
      row.rank = info.rank;
      row.group_name = Copy(group.name);
      row.group_desc = Copy(group.description);
      row.members = Ranks(group.members);
      row.seq = unit.seq;
      row.op = Copy(index_.ops.op[op_row]);
      row.state = Copy(index_.ops.state[op_row]);
      int64_t newest = NewestTime(rank);
      int64_t created = index_.ops.created_ns[op_row], age = 0;
      bool told = newest != kNone64 && created != kNone64;
      if (told && !__builtin_sub_overflow(newest, created, &age)) row.age_ns = age;
      row.op_row = unit.row;
      std::vector<int32_t> on;
      if (&unit == waits_.At(rank)) {
        for (const Wait& wait : waits_.Of(rank)) on.push_back(wait.on);
      }
      row.waits_for = Ranks(on);
      part_.tables.Edit<FirstIncompleteTable>().Add(row);
    }
  }

  const Index& index_;
  const Waits& waits_;
  Part& part_;
  CommMatchTable& matches_;
  CommCallTable& calls_;
  std::vector<int32_t> match_of_unit_;
  std::vector<int64_t> list_;
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> blamed_;  // by group and sequence
};

bool HasWord(const std::string& text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    auto is_letter = [&](size_t i) {
      return i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) != 0;
    };
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  }
  return false;
}

}  // namespace

std::string_view RoleOf(const Index& index, const Group& group) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {
      {{"expert", "ep"},
       {"ep", "ep"},
       {"tensor", "tp"},
       {"tp", "tp"},
       {"pipeline", "pp"},
       {"pp", "pp"},
       {"data", "dp"},
       {"dp", "dp"},
       {"fsdp", "dp"}}};
  std::string text(index.Text(group.description));
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [word, role] : kWords) {
    if (HasWord(text, word)) return role;
  }
  return group.members.size() == index.ranks.size() ? "world" : "";
}

void FillTables(const Index& index, const Waits& waits, const std::vector<Cause>& causes,
                Part& part) {
  Writer(index, waits, causes, part).WriteAll();
}

}  // namespace debrief::analyses::flight
