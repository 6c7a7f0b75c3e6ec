// The counters of dumps, and the pairing of sends with receives: the parts of Index that need a
// rule.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "analyses/flight/index.h"
#include "tables/comm_group.h"
#include "tables/comm_status.h"

namespace debrief::analyses::flight {

namespace {

// Descriptions of a rank's groups, in the order of its dump: ranks with the same list number their
// groups alike.
using Layout = std::vector<StringId>;

struct DeclaredGroups {
  Layout layout;
  int32_t layout_number = -1;                                      // equal for equal layouts
  std::map<StringId, std::pair<StringId, ListId>> by_description;  // -> name and members
  std::set<StringId> shared;                                       // by several groups
};

// By input: each recorder of a process numbers its groups for itself.
std::map<int32_t, DeclaredGroups> Declared(const Index& index) {
  std::map<int32_t, DeclaredGroups> declared;
  const auto& rows = index.model.tables.Get<CommGroupTable>();
  for (const size_t i : index.rows->groups.Of(index.job, index.attempt)) {
    DeclaredGroups& groups = declared[rows.input[i]];
    groups.layout.push_back(rows.description[i]);
    std::pair named(rows.name[i], rows.members[i]);
    auto [known, is_new] = groups.by_description.try_emplace(rows.description[i], named);
    if (!is_new && known->second != named) groups.shared.insert(rows.description[i]);
  }
  std::map<Layout, int32_t> numbers;
  for (auto& [input, groups] : declared) {
    auto number = static_cast<int32_t>(numbers.size());
    groups.layout_number = numbers.try_emplace(std::move(groups.layout), number).first->second;
  }
  return declared;
}

// The group that a recorder calls pg_id; the first of them counts.
struct OwnGroup {
  int32_t input;
  int32_t pg_id;
  int32_t group;
};

bool IsBefore(const OwnGroup& a, const OwnGroup& b) {
  return std::tie(a.input, a.pg_id) < std::tie(b.input, b.pg_id);
}

}  // namespace

// Counters are told by the number a process gives its groups, and only entries tell which group
// that is. A rank without entries (that may be the one that hangs) numbers its groups like the
// ranks that have the same ones, as far as descriptions tell those apart.
void Index::AddStatus() {
  std::map<int32_t, DeclaredGroups> declared = Declared(*this);
  std::map<std::pair<int32_t, int32_t>, StringId> numbering;  // layout and pg_id -> description
  std::vector<OwnGroup> own_groups;
  std::vector<int32_t> seen_by(groups.size(), -1);  // the last rank whose first unit was looked at
  for (const Unit& unit : units) {
    auto group = static_cast<size_t>(unit.group);
    if (seen_by[group] == unit.rank) continue;
    seen_by[group] = unit.rank;
    size_t row = unit.row;
    own_groups.push_back({ops.input[row], ops.pg_id[row], unit.group});
    auto found = declared.find(ops.input[row]);
    if (found == declared.end()) continue;
    numbering.try_emplace({found->second.layout_number, ops.pg_id[row]}, groups[group].description);
  }
  std::stable_sort(own_groups.begin(), own_groups.end(), IsBefore);
  auto guess = [&](int32_t input, int32_t pg_id) -> int32_t {
    auto own = declared.find(input);
    if (own == declared.end()) return -1;
    auto description = numbering.find({own->second.layout_number, pg_id});
    if (description == numbering.end() || own->second.shared.contains(description->second))
      return -1;
    auto named = own->second.by_description.find(description->second);
    if (named == own->second.by_description.end()) return -1;
    const auto [name, members] = named->second;
    auto device = group_positions_.find({name, members, false});
    auto host = group_positions_.find({name, members, true});
    const bool is_in_both = device != group_positions_.end() && host != group_positions_.end();
    if (is_in_both) return -1;  // a dump without entries does not tell whose it is
    if (device != group_positions_.end()) return device->second;
    return host == group_positions_.end() ? -1 : host->second;
  };
  const auto& status = model.tables.Get<CommStatusTable>();
  for (const size_t i : rows->status.Of(job, attempt)) {
    const OwnGroup asked{status.input[i], status.pg_id[i], -1};
    auto known = std::lower_bound(own_groups.begin(), own_groups.end(), asked, IsBefore);
    const bool is_known = known != own_groups.end() && !IsBefore(asked, *known);
    const int32_t at = is_known ? known->group : guess(asked.input, asked.pg_id);
    auto rank = rank_positions_.find(status.rank[i]);
    if (at < 0 || rank == rank_positions_.end()) continue;
    Group& group = GroupAt(at);
    int32_t member = MemberPosition(group, rank->second);
    if (member < 0) continue;
    MemberWindow& window = group.WindowAt(member);
    window.enqueued = status.last_enqueued[i];
    window.finished = status.last_completed[i];
  }
}

// Sends and receives of a channel pair in order. Where both dumps begin with record 0 they are
// counted from there. Otherwise from the first that is not completed: completions come in pairs.
void Index::PairChannels() {
  std::map<std::tuple<int32_t, int32_t, int32_t>, Channel> found;  // by group, sender, receiver
  for (int32_t i = 0; i < static_cast<int32_t>(units.size()); ++i) {
    Unit& unit = UnitAt(i);
    if (!unit.p2p) continue;
    const Group& group = GroupOf(unit);
    size_t row = unit.row;
    auto member = [&](int32_t at) {
      bool valid = at >= 0 && static_cast<size_t>(at) < group.members.size();
      return valid ? group.members[static_cast<size_t>(at)] : -1;
    };
    int32_t sender = unit.send ? unit.rank : member(ops.src[row]);
    int32_t receiver = unit.send ? member(ops.dst[row]) : unit.rank;
    if (sender < 0 || receiver < 0) continue;
    unit.partner = unit.send ? receiver : sender;
    Channel& channel = found
                           .try_emplace({unit.group, sender, receiver},
                                        Channel{unit.group, sender, receiver, {}, {}})
                           .first->second;
    (unit.send ? channel.sends : channel.receives).push_back(i);
  }
  for (auto& [key, channel] : found) {
    auto completed = [&](const std::vector<int32_t>& list) {
      return std::count_if(list.begin(), list.end(),
                           [&](int32_t u) { return UnitAt(u).completed(); });
    };
    bool from_start = RankAt(channel.sender).from_start && RankAt(channel.receiver).from_start;
    int64_t shift = from_start ? 0 : completed(channel.sends) - completed(channel.receives);
    auto link = [&](const std::vector<int32_t>& mine, const std::vector<int32_t>& theirs,
                    int64_t by) {
      for (int64_t i = 0; i < static_cast<int64_t>(mine.size()); ++i) {
        Unit& unit = UnitAt(mine[static_cast<size_t>(i)]);
        int64_t other = i + by;
        unit.fell_out = other < 0 && RankAt(unit.partner).has_dump;
        bool exists = other >= 0 && other < static_cast<int64_t>(theirs.size());
        unit.peer = exists ? theirs[static_cast<size_t>(other)] : -1;
      }
    };
    link(channel.sends, channel.receives, -shift);
    link(channel.receives, channel.sends, shift);
    channels.push_back(std::move(channel));
  }
}

}  // namespace debrief::analyses::flight
