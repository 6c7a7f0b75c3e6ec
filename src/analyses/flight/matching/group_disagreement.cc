// Ranks that disagree on who is in a group, or on what it is called.
//
// Every dump lists the groups of its rank. Groups may share a name as long as nobody is in two of
// them (each rank's own sub group); where two lists of one name overlap, somebody is wrong, unless
// one rank knows both. Cost: linear in the rows of comm_group and in the members of distinct
// groups.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyses/flight/cause.h"
#include "base/text/rank_list.h"
#include "tables/comm_group.h"

namespace debrief::analyses::flight {

namespace {

// One way in which ranks describe a group.
struct Version {
  ListId members = ListId::kNone;
  StringId description = StringId::kNone;
  std::vector<int32_t> ranks;  // global ranks that say so, sorted
  int64_t row = 0;             // of comm_group
};

using Versions = std::vector<Version>;

bool IsTold(std::string_view description) {
  return !description.empty() && description != "undefined";
}

// name -> versions; a rank whose dump leaves the description out claims nothing about it
std::map<StringId, Versions> FindVersions(const Index& index) {
  const auto& rows = index.model.tables.Get<CommGroupTable>();
  std::map<std::tuple<StringId, ListId, StringId>, std::vector<int32_t>> ranks;
  std::map<std::tuple<StringId, ListId, StringId>, int64_t> first;
  for (const size_t i : index.rows->groups.Of(index.job, index.attempt)) {
    if (rows.rank[i] == kNone32 || rows.members[i] == ListId::kNone) continue;
    StringId description =
        IsTold(index.Text(rows.description[i])) ? rows.description[i] : StringId::kNone;
    std::tuple key(rows.name[i], rows.members[i], description);
    std::vector<int32_t>& who = ranks[key];
    if (who.empty()) first[key] = static_cast<int64_t>(i);
    who.push_back(rows.rank[i]);
  }
  std::map<StringId, Versions> versions;
  for (auto& [key, who] : ranks) {
    std::ranges::sort(who);
    who.erase(std::unique(who.begin(), who.end()), who.end());
    versions[std::get<0>(key)].push_back(
        {std::get<1>(key), std::get<2>(key), std::move(who), first[key]});
  }
  return versions;
}

bool ShareRank(const Version& a, const Version& b) {
  return std::any_of(a.ranks.begin(), a.ranks.end(), [&](int32_t rank) {
    return std::binary_search(b.ranks.begin(), b.ranks.end(), rank);
  });
}

bool Conflict(const Version& a, const Version& b) {
  if (ShareRank(a, b)) return false;
  if (a.members != b.members) return true;
  return a.description != b.description && a.description != StringId::kNone &&
         b.description != StringId::kNone;
}

// Versions of one name that have members in common, as sets of positions.
std::vector<std::vector<size_t>> Overlaps(const Index& index, const Versions& versions) {
  std::vector<size_t> parent(versions.size());
  for (size_t i = 0; i < parent.size(); ++i) parent[i] = i;
  auto root = [&](size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  std::map<int64_t, size_t> version_of;
  for (size_t i = 0; i < versions.size(); ++i) {
    for (int64_t rank : index.model.pools.lists.Get(versions[i].members)) {
      auto [found, is_new] = version_of.try_emplace(rank, i);
      if (!is_new) parent[root(i)] = root(found->second);
    }
  }
  std::map<size_t, std::vector<size_t>> sets;
  for (size_t i = 0; i < versions.size(); ++i) sets[root(i)].push_back(i);
  std::vector<std::vector<size_t>> overlaps;
  for (auto& [at, set] : sets) {
    if (set.size() > 1) overlaps.push_back(std::move(set));
  }
  return overlaps;
}

std::string InWords(const Index& index, const Version& version) {
  std::vector<int32_t> members;
  for (int64_t rank : index.model.pools.lists.Get(version.members))
    members.push_back(static_cast<int32_t>(rank));
  return fmt::format("{}[{}]",
                     version.description == StringId::kNone
                         ? std::string()
                         : fmt::format("{} ", index.Text(version.description)),
                     FoldNumbers(members));
}

void AddGroups(const Index& index, StringId name, const Version& version, Cause& cause) {
  for (size_t i = 0; i < index.groups.size(); ++i) {
    const Group& group = index.groups[i];
    if (group.name == name && group.member_list == version.members)
      cause.groups.push_back(static_cast<int32_t>(i));
  }
}

void AddRanks(const Index& index, const Version& version, std::set<int32_t>& positions) {
  for (int32_t rank : version.ranks) {
    auto found = std::find_if(index.ranks.begin(), index.ranks.end(),
                              [&](const RankInfo& info) { return info.rank == rank; });
    if (found != index.ranks.end())
      positions.insert(static_cast<int32_t>(found - index.ranks.begin()));
  }
}

// The version that most ranks have is right; with two such, nobody can tell.
void AddDisagreement(const Index& index, StringId name, const Versions& versions,
                     const std::vector<size_t>& set, std::vector<Cause>& causes) {
  const Version& right =
      versions[*std::max_element(set.begin(), set.end(), [&](size_t a, size_t b) {
        return versions[a].ranks.size() < versions[b].ranks.size();
      })];
  std::vector<const Version*> wrong;
  for (size_t i : set) {
    if (&versions[i] != &right && Conflict(versions[i], right)) wrong.push_back(&versions[i]);
  }
  if (wrong.empty()) return;
  bool tie = std::any_of(wrong.begin(), wrong.end(), [&](const Version* version) {
    return version->ranks.size() == right.ranks.size();
  });
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.group_disagreement";
  cause.severity = Severity::kWarning;
  std::set<int32_t> ranks;
  if (tie) AddRanks(index, right, ranks);
  AddGroups(index, name, right, cause);
  cause.evidence.push_back({fmt::format("{}: {}", RanksInWords(right.ranks), InWords(index, right)),
                            "comm_group",
                            {right.row}});
  for (const Version* version : wrong) {
    AddRanks(index, *version, ranks);
    if (version->members != right.members) AddGroups(index, name, *version, cause);
    cause.evidence.push_back(
        {fmt::format("{}: {}", RanksInWords(version->ranks), InWords(index, *version)),
         "comm_group",
         {version->row}});
  }
  cause.ranks.assign(ranks.begin(), ranks.end());
  cause.what = fmt::format("{} with {} on group {}: {} against {}",
                           cause.ranks.size() == 1 ? "disagrees" : "disagree",
                           tie ? "each other" : RanksInWords(right.ranks), index.Text(name),
                           InWords(index, *wrong.front()), InWords(index, right));
  cause.confidence = tie ? 0.5 : 0.8;
  cause.why = tie ? "equally many ranks have each of them"
                  : "most ranks that know the group have another one";
  cause.next_step =
      "All ranks must create groups in the same order with the same lists: look at new_group and "
      "init_device_mesh.";
}

}  // namespace

void FindGroupDisagreements(const Index& index, std::vector<Cause>& causes) {
  for (const auto& [name, versions] : FindVersions(index)) {
    if (versions.size() < 2) continue;
    for (const std::vector<size_t>& set : Overlaps(index, versions))
      AddDisagreement(index, name, versions, set, causes);
  }
}

}  // namespace debrief::analyses::flight
