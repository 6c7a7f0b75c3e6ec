#include "analyses/flight/matching/roots.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/flight/words.h"

namespace debrief::analyses::flight {

namespace {

bool HasOneRoot(std::string_view op) { return op == "gather" || op == "scatter"; }

// Has this member a tensor for each of the group?
bool ActsAsRoot(const Index& index, const Unit& unit) {
  const std::string_view op = index.OpName(unit);
  const size_t members = index.GroupOf(unit).members.size();
  if (unit.region || members < 2 || !HasOneRoot(op)) return false;
  const auto& list = op == "gather" ? index.ops.output_sizes : index.ops.input_sizes;
  return CountTensors(index.Text(list[unit.row])).size() == members;
}

std::vector<int32_t> RootsOf(const Index& index, const Group& group, const SeqRow& row) {
  std::vector<int32_t> roots;
  const auto members = index.UnitsOf(group, row);
  if (members.empty() || !HasOneRoot(index.OpName(index.UnitAt(members.front())))) return roots;
  for (int32_t at : members) {
    if (ActsAsRoot(index, index.UnitAt(at))) roots.push_back(at);
  }
  return roots;
}

// Who was the root when this was last called; -1 when no dump tells.
int32_t FormerRoot(const Index& index, const Group& group, const SeqRow& row, std::string_view op) {
  const auto behind = std::ranges::lower_bound(group.rows, row.seq, {}, &SeqRow::seq);
  for (auto before = behind; before != group.rows.begin();) {
    --before;
    const std::vector<int32_t> roots = RootsOf(index, group, *before);
    if (roots.size() == 1 && index.OpName(index.UnitAt(roots.front())) == op)
      return index.UnitAt(roots.front()).rank;
  }
  return -1;
}

}  // namespace

bool HasSecondRoot(const Index& index, const Group& group, const SeqRow& row) {
  return RootsOf(index, group, row).size() > 1;
}

bool AddSecondRoot(const Index& index, const Group& group, const SeqRow& row,
                   std::vector<Cause>& causes) {
  std::vector<int32_t> roots = RootsOf(index, group, row);
  if (roots.size() < 2) return false;
  const Unit& first = index.UnitAt(roots.front());
  const int32_t former = FormerRoot(index, group, row, index.OpName(first));
  const auto right =
      std::ranges::find_if(roots, [&](int32_t at) { return index.UnitAt(at).rank == former; });
  const bool known = right != roots.end();
  const int32_t root = known ? *right : roots.back();
  Cause& cause = causes.emplace_back();
  cause.rule = "flight.type_mismatch";
  cause.units = roots;
  for (int32_t at : roots) {
    if (!known || at != root) cause.ranks.push_back(index.UnitAt(at).rank);
  }
  std::ranges::sort(cause.ranks);
  cause.groups = {static_cast<int32_t>(&group - index.groups.data())};
  cause.seq = row.seq;
  cause.op = std::string(NameInWords(index, first));
  cause.what = known ? fmt::format("called {} as its root, where rank {} is the root{}",
                                   OpInWords(index, first),
                                   index.GlobalRank(index.UnitAt(root).rank), AtSite(index, first))
                     : fmt::format("called {} as its root, each of them{}", OpInWords(index, first),
                                   AtSite(index, first));
  cause.confidence = known ? 0.9 : 0.5;
  cause.why = known ? "the other one was the root before" : "nothing shows which of them is right";
  cause.next_step = "Compare how the ranks choose the root at this line.";
  return true;
}

}  // namespace debrief::analyses::flight
