// Sequence numbers of recorders that have none for each group (torchcomms).
//
// Their entries are counted by group when a dump is read, which numbers them as the group did as
// long as the dump begins with the first one. A ring that has wrapped, or a dump of active entries
// alone, begins anywhere: there the members are laid over each other at the first operation that is
// not completed, since members complete an operation together. Where one has noticed a completion
// earlier than others, the operations themselves tell by how much.
#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

namespace {

// The operations of one member in one group, in order.
struct Counted {
  std::vector<int32_t> units;  // positions in Index::units
  int32_t completed = 0;       // how many of them, from the first on, up to the last completed
  bool from_start = true;      // the dump has every entry that there was
};

// The records of one dump.
struct Records {
  int32_t first = kNone32;
  int32_t last = kNone32;
  int32_t count = 0;
  bool every() const { return first == 0 && last + 1 == count; }
};

// By input; entries of torchcomms are a unit each.
std::map<int32_t, Records> RecordsOf(const Index& index) {
  std::map<int32_t, Records> records;
  for (const Unit& unit : index.units) {
    if (!index.GroupOf(unit).counted) continue;
    Records& dump = records[index.ops.input[unit.row]];
    if (dump.count == 0) dump.first = index.Record(unit);
    dump.last = index.Record(unit);
    ++dump.count;
  }
  return records;
}

// Do two members do the same where their numbers overlap?
bool Agree(const Index& index, const Counted& a, const Counted& b, int32_t shift_of_b) {
  const int32_t first_a = index.UnitAt(a.units.front()).seq;
  const int32_t first_b = index.UnitAt(b.units.front()).seq + shift_of_b;
  const int32_t first = std::max(first_a, first_b);
  const int32_t end = std::min(first_a + static_cast<int32_t>(a.units.size()),
                               first_b + static_cast<int32_t>(b.units.size()));
  for (int32_t seq = first; seq < end; ++seq) {
    const Unit& left = index.UnitAt(a.units[static_cast<size_t>(seq - first_a)]);
    const Unit& right = index.UnitAt(b.units[static_cast<size_t>(seq - first_b)]);
    if (left.signature != right.signature) return false;
  }
  return first < end;
}

void Shift(Index& index, const Counted& member, int32_t by) {
  for (int32_t at : member.units) index.UnitAt(at).seq += by;
}

// The shift nearest to none with which a member does the same as the reference; none when no shift
// helps: then they really differ.
int32_t SmallShift(const Index& index, const Counted& reference, const Counted& member) {
  static constexpr std::array<int32_t, 7> kShifts = {0, -1, 1, -2, 2, -3, 3};
  const auto* found = std::find_if(kShifts.begin(), kShifts.end(), [&](int32_t shift) {
    return Agree(index, reference, member, shift);
  });
  return found == kShifts.end() ? 0 : *found;
}

void Align(Index& index, std::vector<Counted>& members) {
  const bool all_whole =
      std::all_of(members.begin(), members.end(), [](const Counted& m) { return m.from_start; });
  if (all_whole || members.empty()) return;
  // Those that are whole have the right numbers, and the others follow them.
  std::stable_sort(members.begin(), members.end(), [](const Counted& a, const Counted& b) {
    return std::pair(a.from_start, a.completed) > std::pair(b.from_start, b.completed);
  });
  const Counted& reference = members.front();
  for (const Counted& member : members) {
    if (member.from_start || &member == &reference) continue;
    Shift(index, member, reference.completed - member.completed);
    Shift(index, member, SmallShift(index, reference, member));
  }
}

}  // namespace

void Index::AlignCounted() {
  std::map<int32_t, std::map<int32_t, Counted>> by_group;  // by group, then rank
  const std::map<int32_t, Records> records = RecordsOf(*this);
  for (int32_t at = 0; at < static_cast<int32_t>(units.size()); ++at) {
    const Unit& unit = UnitAt(at);
    if (!GroupOf(unit).counted || unit.p2p) continue;
    Counted& member = by_group[unit.group][unit.rank];
    if (member.units.empty()) member.from_start = records.at(ops.input[unit.row]).every();
    member.units.push_back(at);
    if (unit.completed()) member.completed = static_cast<int32_t>(member.units.size());
  }
  for (auto& [group, ranks_of_group] : by_group) {
    std::vector<Counted> members;
    for (auto& [rank, member] : ranks_of_group) members.push_back(std::move(member));
    Align(*this, members);
  }
}

}  // namespace debrief::analyses::flight
