#include "analyses/compile/ranks/verdicts.h"

#include <fmt/format.h>

#include <algorithm>

#include "tables/compile_divergence.h"
#include "tables/compile_rank_check.h"

namespace debrief::analyses::compile_ranks {

void Verdicts::Check(std::string_view what, std::string_view state, std::string_view detail) {
  CompileRankCheckRow row;
  row.job = job_;
  row.attempt = attempt_;
  row.what = part_.pools.Intern(what);
  row.state = part_.pools.Intern(state);
  if (!detail.empty()) row.detail = part_.pools.Intern(detail);
  part_.tables.Edit<CompileRankCheckTable>().Add(row);
}

void Verdicts::AddGroup(std::string_view what, int32_t number, const Agreement& group) {
  CompileDivergenceRow row;
  row.job = job_;
  row.attempt = attempt_;
  row.what = part_.pools.Intern(what);
  row.group_number = number;
  std::vector<int64_t> ranks(group.ranks.begin(), group.ranks.end());
  row.ranks = part_.pools.lists.Intern(ranks);
  if (!group.detail.empty()) row.detail = part_.pools.Intern(group.detail);
  part_.tables.Edit<CompileDivergenceTable>().Add(row);
}

void Verdicts::Compare(std::string_view what, const std::map<std::string, Agreement>& groups,
                       std::string_view why_unavailable) {
  size_t ranks = 0;
  std::vector<const Agreement*> in_order;
  for (const auto& [signature, group] : groups) {
    ranks += group.ranks.size();
    in_order.push_back(&group);
  }
  if (ranks == 0) return Check(what, "unavailable", why_unavailable);
  if (ranks == 1) return Check(what, "unavailable", "only one rank has what is compared");
  if (groups.size() == 1) return Check(what, "consistent", "");
  Check(what, "differs", fmt::format("{} groups among {} ranks", groups.size(), ranks));
  std::sort(in_order.begin(), in_order.end(), [](const Agreement* a, const Agreement* b) {
    return a->ranks.front() < b->ranks.front();
  });
  for (size_t i = 0; i < in_order.size(); ++i)
    AddGroup(what, static_cast<int32_t>(i), *in_order[i]);
}

}  // namespace debrief::analyses::compile_ranks
