// Did all ranks compile the same, and run it in the same order? Each question is asked twice where
// tlparse asks it wrongly: its way, so that its report can be made, and the right way.
//
//              tlparse                                      here, beside it
//   tensors    estimated times are part of the comparison   tensor_shapes: without them
//   runtimes   the k-th graphs of two ranks are compared    runtime_by_graph: those of one id
//   ops        those of all graphs are one sequence         collectives_by_graph: each by itself
//
// Cost: linear in the tables that it reads, payloads are not among them.
#include "analyses/compile/ranks/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "base/text/rank_list.h"
#include "tables/compile_artifact_count.h"
#include "tables/compile_cache.h"
#include "tables/compile_collective.h"
#include "tables/compile_divergence.h"
#include "tables/compile_entry.h"
#include "tables/compile_execution.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"
#include "tables/compile_runtime_op.h"
#include "tables/compile_tensor_meta.h"

namespace debrief::analyses::compile_ranks {

namespace {

// A miss says more than a hit, a hit more than a bypass: so their letters are compared.
int Weight(char answer) { return answer == 'm' ? 3 : answer == 'h' ? 2 : 1; }

// What each rank compiled. Logs of no known rank cannot be compared and are left out. One pass over
// the tables.
class Gatherer {
 public:
  explicit Gatherer(const Model& model) : model_(model) {}

  Attempts Run() {
    ForEachRow<CompileArtifactCountTable>([&](const auto& table, size_t i, RankLog& log) {
      log.has_order = log.has_order || table.order_length[i] != kNone32;
    });
    AddIds();
    ForEachRow<CompileCacheTable>([&](const auto& table, size_t i, RankLog& log) {
      char answer = Text(table.status[i])[0];
      log.caches += answer;
      char& worst = log.id_caches.try_emplace(Text(table.compile_id[i]), answer).first->second;
      if (Weight(answer) > Weight(worst)) worst = answer;
    });
    ForEachRow<CompileCollectiveTable>([&](const auto& table, size_t i, RankLog& log) {
      if (table.chosen[i]) log.schedules[Text(table.graph[i])].push_back(table.op[i]);
      if (table.chosen[i]) log.id_schedules[Text(table.compile_id[i])].push_back(table.op[i]);
    });
    ForEachRow<CompileRuntimeOpTable>([&](const auto& table, size_t i, RankLog& log) {
      if (table.chosen[i]) log.runtimes_ns[Text(table.graph[i])] += table.estimated_ns[i];
    });
    ForEachRow<CompileTensorMetaTable>([&](const auto& table, size_t i, RankLog& log) {
      if (!table.chosen[i]) return;
      log.tensor_meta[Text(table.graph[i])] = {Text(table.fingerprint[i]),
                                               Text(table.shape_fingerprint[i])};
    });
    ForEachRow<CompileExecutionTable>([&](const auto& table, size_t i, RankLog& log) {
      log.order.push_back(Text(table.executed[i]));
    });
    return std::move(attempts_);
  }

 private:
  template <typename Table, typename Callback>
  void ForEachRow(Callback callback) {
    const auto& table = model_.tables.Get<Table>();
    for (size_t i = 0; i < table.size(); ++i) {
      if (table.rank[i] == kNone32) continue;
      callback(table, i, attempts_[{table.job[i], table.attempt[i]}][table.rank[i]]);
    }
  }

  // Most entries have the id of the one before.
  void AddIds() {
    const auto& entries = model_.tables.Get<CompileEntryTable>();
    std::set<std::tuple<int32_t, int32_t, int32_t, StringId>> seen;
    std::tuple<int32_t, int32_t, int32_t, StringId> last = {kNone32, kNone32, kNone32,
                                                            StringId::kNone};
    for (size_t i = 0; i < entries.size(); ++i) {
      std::tuple key(entries.job[i], entries.attempt[i], entries.rank[i], entries.compile_id[i]);
      if (key == last || entries.rank[i] == kNone32) continue;
      if (entries.compile_id[i] == StringId::kNone) continue;
      if (Text(entries.state[i]) == "refused") continue;
      last = key;
      if (!seen.insert(key).second) continue;
      attempts_[{entries.job[i], entries.attempt[i]}][entries.rank[i]].compile_ids.insert(
          Text(entries.compile_id[i]));
    }
  }

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  const Model& model_;
  Attempts attempts_;
};

// The differences that explain a hang or a slow start. Only what is asked the right way: that
// tlparse's fingerprints differ because estimates do is in the tables, not here; nor that ranks
// have other compile ids or other answers of caches, which healthy ranks have, too: what they
// compiled is compared in compile_rank_compare, what caches did in compile_caches.
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

// "ranks 0-3 against rank 4 and ranks 5-6"
std::string RanksOfGroups(const Part& part, const std::vector<size_t>& rows) {
  constexpr size_t kMost = 3;
  if (rows.size() > kMost) return fmt::format("{} groups of ranks differ", rows.size());
  const auto& groups = part.tables.Get<CompileDivergenceTable>();
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<int32_t> ranks;
    for (int64_t rank : part.pools.lists.Get(groups.ranks[rows[i]]))
      ranks.push_back(static_cast<int32_t>(rank));
    text += fmt::format("{}{}", i == 0 ? "" : i == 1 ? " against " : " and ", RanksInWords(ranks));
  }
  return text;
}

Finding MakeFinding(const Part& part, const Rule& rule, const std::vector<size_t>& rows) {
  const auto& groups = part.tables.Get<CompileDivergenceTable>();
  Finding finding = NewFinding(fmt::format("compile_ranks.{}", rule.what), groups.job[rows[0]],
                               groups.attempt[rows[0]], rule.severity);
  finding.headline = fmt::format("{}: {}", rule.headline, RanksOfGroups(part, rows));
  finding.evidence.push_back(
      {.text = "ranks that agree with each other: " + GroupsInWords(part, rows),
       .table = "compile_divergence",
       .rows = {rows.begin(), rows.end()}});
  finding.why = "compared as the logs have it; they do not say which group is wrong";
  finding.next_step = std::string(rule.next_step);
  return finding;
}

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

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [who, logs] : Gatherer(model).Run()) {
    Verdicts verdicts(who.first, who.second, result.part);
    CompareContents(logs, verdicts);
    CompareRuntimes(logs, verdicts);
    CompareOrders(logs, verdicts);
  }
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_ranks",
               .sentence = "Did all ranks compile the same, and run it in the same order?",
               .example =
                   "Ranks compiled different collectives (ranks 0 and 2: -_0_0_0 with 6 ops; "
                   "rank 1: -_0_0_0 with 4 ops)",
               .needs = kTableNames<CompileEntryTable, CompileArtifactCountTable>,
               .makes = kTableNames<CompileRankCheckTable, CompileDivergenceTable,
                                    CompileRuntimeDeltaTable, CompileOrderTable>,
               .uses = kTableNames<CompileCacheTable, CompileCollectiveTable, CompileRuntimeOpTable,
                                   CompileTensorMetaTable, CompileExecutionTable>},
      .run = Run};
  return kAnalysis;
}

void Verdicts::Check(std::string_view what, std::string_view state, std::string_view detail) {
  CompileRankCheckRow row;
  row.job = job_;
  row.attempt = attempt_;
  row.what = part_.pools.Intern(what);
  row.state = part_.pools.Intern(state);
  if (!detail.empty()) row.detail = part_.pools.Intern(detail);
  part_.tables.Edit<CompileRankCheckTable>().Add(row);
}

void Verdicts::AddGroups(std::string_view what, std::vector<Agreement> groups) {
  std::sort(groups.begin(), groups.end(), [](const Agreement& a, const Agreement& b) {
    return a.ranks.front() < b.ranks.front();
  });
  int32_t number = 0;
  for (const Agreement& group : groups) {
    CompileDivergenceRow row;
    row.job = job_;
    row.attempt = attempt_;
    row.what = part_.pools.Intern(what);
    row.group_number = number++;
    row.ranks = InternRanks(group.ranks, part_);
    if (!group.detail.empty()) row.detail = part_.pools.Intern(group.detail);
    part_.tables.Edit<CompileDivergenceTable>().Add(row);
  }
}

void Verdicts::Compare(std::string_view what, const std::map<std::string, Agreement>& groups,
                       std::string_view why_unavailable) {
  size_t ranks = 0;
  std::vector<Agreement> agreements;
  for (const auto& [signature, group] : groups) {
    ranks += group.ranks.size();
    agreements.push_back(group);
  }
  if (ranks == 0) return Check(what, "unavailable", why_unavailable);
  if (ranks == 1) return Check(what, "unavailable", "only one rank has what is compared");
  if (groups.size() == 1) return Check(what, "consistent", "");
  Check(what, "differs", fmt::format("{} groups among {} ranks", groups.size(), ranks));
  AddGroups(what, std::move(agreements));
}

}  // namespace debrief::analyses::compile_ranks
