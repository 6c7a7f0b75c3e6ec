// Which ranks are missing from a collective, by what torch.distributed.debug writes every now and
// then? Any moment of a job that runs shows some: those are believed that are missing from the same
// collective in two files one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/fr_trace_op.h"

namespace debrief::analyses::text_fr_trace {

namespace {

constexpr auto kNeeds = kTableNames<FrTraceOpTable>;

using Rows = std::vector<size_t>;
// Recorder, group, sequence numbers and who is missing: the same thing in two files.
using Key = std::tuple<StringId, StringId, int64_t, int64_t, ListId>;

struct Rounds {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::vector<Rows> rounds;  // a file each, oldest first
};

std::vector<Rounds> CollectRounds(const Model& model) {
  const auto& table = model.tables.Get<FrTraceOpTable>();
  std::map<std::pair<int32_t, int32_t>, std::map<std::pair<int64_t, int32_t>, Rows>> all;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.job[i] == kNone32) continue;
    all[{table.job[i], table.attempt[i]}][{table.time_ns[i], table.input[i]}].push_back(i);
  }
  std::vector<Rounds> result;
  for (auto& [key, ordered] : all) {
    Rounds& rounds = result.emplace_back(Rounds{key.first, key.second, {}});
    for (auto& [order, rows] : ordered) rounds.rounds.push_back(std::move(rows));
  }
  return result;
}

Key KeyOf(const FrTraceOpTable& table, size_t row) {
  return {table.recorder[row], table.group_name[row], table.seq[row], table.p2p_seq[row],
          table.missing[row]};
}

struct Stuck {
  Rows rows;          // of the last file
  size_t rounds = 0;  // files in a row that tell them
};

// Rows of the last file that the one before it has as well.
Stuck FindStuck(const FrTraceOpTable& table, const std::vector<Rows>& rounds) {
  Stuck stuck;
  std::set<Key> common;
  for (size_t row : rounds.back()) {
    if (table.missing[row] != ListId::kNone) common.insert(KeyOf(table, row));
  }
  stuck.rounds = common.empty() ? 0 : 1;
  for (size_t i = rounds.size() - 1; i-- > 0 && !common.empty();) {
    std::set<Key> both;
    for (size_t row : rounds[i]) {
      if (common.contains(KeyOf(table, row))) both.insert(KeyOf(table, row));
    }
    if (both.empty()) break;
    common = std::move(both);
    ++stuck.rounds;
  }
  for (size_t row : rounds.back()) {
    if (common.contains(KeyOf(table, row))) stuck.rows.push_back(row);
  }
  return stuck;
}

std::set<int32_t> ToSet(const Model& model, ListId id) {
  std::set<int32_t> ranks;
  for (int64_t rank : model.pools.lists.Get(id)) ranks.insert(static_cast<int32_t>(rank));
  return ranks;
}

// Missing somewhere and waiting nowhere.
std::vector<int32_t> FindMissing(const Model& model, const Rows& rows, size_t& waiting) {
  const auto& table = model.tables.Get<FrTraceOpTable>();
  std::set<int32_t> missing, waits;
  for (size_t row : rows) {
    std::set<int32_t> gone = ToSet(model, table.missing[row]);
    for (int32_t rank : ToSet(model, table.expected[row])) {
      if (!gone.contains(rank)) waits.insert(rank);
    }
    missing.insert(gone.begin(), gone.end());
  }
  for (int32_t rank : waits) missing.erase(rank);
  waiting = waits.size();
  return {missing.begin(), missing.end()};
}

void Judge(const Model& model, const Rounds& rounds, std::vector<Finding>& findings) {
  const auto& table = model.tables.Get<FrTraceOpTable>();
  Stuck stuck = FindStuck(table, rounds.rounds);
  if (stuck.rounds < 2) return;
  size_t waiting = 0;
  std::vector<int32_t> missing = FindMissing(model, stuck.rows, waiting);
  if (missing.empty() || waiting < missing.size()) return;
  size_t first = *std::min_element(stuck.rows.begin(), stuck.rows.end(),
                                   [&](size_t a, size_t b) { return table.seq[a] < table.seq[b]; });
  Finding finding;
  finding.rule = "text_fr_trace.missing";
  finding.severity = stuck.rounds > 2 ? Severity::kError : Severity::kWarning;
  finding.role = Role::kCause;
  finding.job = rounds.job;
  finding.attempt = rounds.attempt;
  finding.ranks = missing;
  finding.op = model.pools.Text(table.op[first]);
  finding.seq = table.seq[first];
  std::string desc(model.pools.Text(table.group_desc[first]));
  std::set<int32_t> members = ToSet(model, table.expected[first]);
  finding.groups.push_back({std::string(model.pools.Text(table.group_name[first])),
                            desc,
                            {members.begin(), members.end()}});
  finding.headline =
      fmt::format("{} did not reach {} #{} of {}; {} for it", RanksAsSubject(missing), finding.op,
                  finding.seq, desc.empty() ? finding.groups[0].name : desc,
                  waiting == 1 ? "1 rank waits" : fmt::format("{} ranks wait", waiting));
  Evidence evidence{fmt::format("the same collectives in {} files of torch.distributed.debug one "
                                "after the other",
                                stuck.rounds),
                    "fr_trace_op",
                    {}};
  for (size_t row : stuck.rows) evidence.rows.push_back(static_cast<int64_t>(row));
  finding.evidence.push_back(std::move(evidence));
  finding.confidence = stuck.rounds > 2 ? 0.85 : 0.7;
  finding.why = fmt::format(
      "nothing moved in {} files; ranks that wait in another collective are "
      "not blamed",
      stuck.rounds);
  finding.next_step = "See where that rank stands: its stack, its output.";
  findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const Rounds& rounds : CollectRounds(model)) Judge(model, rounds, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_fr_trace",
               .sentence = "Who is missing from a collective, by the files of "
                           "torch.distributed.debug?",
               .example = "Rank 2 did not reach all_reduce #38 of default_pg; 7 ranks wait for it",
               .needs = kNeeds,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_fr_trace
