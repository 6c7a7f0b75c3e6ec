// The differences that explain a hang or a slow start. Only what is asked the right way: that
// tlparse's fingerprints differ because estimates do is in the tables, not here; nor that ranks
// have other compile ids or other answers of caches, which healthy ranks have, too: what they
// compiled is compared in compile_rank_compare, what caches did in compile_caches.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "analyses/compile/ranks/verdicts.h"
#include "base/text/rank_list.h"
#include "tables/compile_divergence.h"

namespace debrief::analyses::compile_ranks {

namespace {

struct Rule {
  std::string_view what;
  Severity severity;
  std::string_view headline;
  std::string_view next_step;
};

constexpr std::array<Rule, 3> kRules = {
    {{"order", Severity::kWarning, "Ranks run their compiled graphs in different orders",
      "Compare the orders: debrief query OUT \"FROM compile_order ORDER BY position, rank\""},
     {"collectives_by_graph", Severity::kWarning, "Ranks compiled different collectives",
      "Compare the schedules: debrief query OUT \"FROM compile_collective ORDER BY graph, rank, "
      "position\""},
     {"tensor_shapes", Severity::kWarning, "Ranks compiled graphs with different tensors or ops",
      "Compare the fingerprints: debrief query OUT \"FROM compile_tensor_meta ORDER BY graph, "
      "rank\""}}};

// "rank 1: 4 ops in 2 graphs"; at most four groups.
std::string GroupsInWords(const Part& part, const std::vector<size_t>& rows) {
  constexpr size_t kMost = 4;
  const auto& groups = part.tables.Get<CompileDivergenceTable>();
  std::string text;
  for (size_t i = 0; i < std::min(rows.size(), kMost); ++i) {
    auto list = part.pools.lists.Get(groups.ranks[rows[i]]);
    std::vector<int32_t> ranks;
    for (int64_t rank : list) ranks.push_back(static_cast<int32_t>(rank));
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", RanksInWords(ranks),
                        part.pools.Text(groups.detail[rows[i]]));
  }
  if (rows.size() > kMost) text += fmt::format("; and {} more groups", rows.size() - kMost);
  return text;
}

Finding MakeFinding(const Part& part, const Rule& rule, const std::vector<size_t>& rows) {
  const auto& groups = part.tables.Get<CompileDivergenceTable>();
  Finding finding;
  finding.rule = fmt::format("compile_ranks.{}", rule.what);
  finding.severity = rule.severity;
  finding.job = groups.job[rows[0]];
  finding.attempt = groups.attempt[rows[0]];
  finding.headline = fmt::format("{} ({})", rule.headline, GroupsInWords(part, rows));
  finding.evidence.push_back({.text = "ranks that agree with each other",
                              .table = "compile_divergence",
                              .rows = {rows.begin(), rows.end()}});
  finding.why = "compared as the logs tell it; which group is wrong they do not tell";
  finding.next_step = std::string(rule.next_step);
  return finding;
}

}  // namespace

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& groups = part.tables.Get<CompileDivergenceTable>();
  for (const Rule& rule : kRules) {
    std::map<std::pair<int32_t, int32_t>, std::vector<size_t>> rows;  // by job and attempt
    for (size_t i = 0; i < groups.size(); ++i) {
      if (part.pools.Text(groups.what[i]) == rule.what)
        rows[{groups.job[i], groups.attempt[i]}].push_back(i);
    }
    for (const auto& [attempt, of_attempt] : rows)
      findings.push_back(MakeFinding(part, rule, of_attempt));
  }
}

}  // namespace debrief::analyses::compile_ranks
