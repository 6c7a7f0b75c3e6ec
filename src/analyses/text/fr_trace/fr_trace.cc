// Which ranks are missing from a collective, by what torch.distributed.debug writes every now and
// then? Any moment of a job that runs shows some: those are believed that are missing from the same
// collective in two files one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/fr_trace_op.h"
#include "tables/input.h"
#include "torch/collective_names.h"

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
  bool of_files = true;      // else of what the analyzer printed into an output
};

Key KeyOf(const FrTraceOpTable& table, size_t row) {
  return {table.recorder[row], table.group_name[row], table.seq[row], table.p2p_seq[row],
          table.missing[row]};
}

// Rows that stand in an output of a rank, and not in a file of the debug server.
bool IsText(const Model& model, const FrTraceOpTable& table, size_t row) {
  const auto& inputs = model.tables.Get<InputTable>();
  const auto input = static_cast<size_t>(table.input[row]);
  return input < inputs.size() && model.pools.Text(inputs.kind[input]) != "fr_trace_text";
}

// An output tells no times: what is told again begins another round.
void AddRoundsOfText(const FrTraceOpTable& table, const Rows& rows, std::vector<Rows>& rounds) {
  std::set<std::tuple<StringId, StringId, int64_t>> seen;
  Rows round;
  for (const size_t row : rows) {
    const std::tuple op(table.recorder[row], table.group_name[row], table.seq[row]);
    if (!seen.insert(op).second) {
      rounds.push_back(std::exchange(round, {}));
      seen = {op};
    }
    round.push_back(row);
  }
  if (!round.empty()) rounds.push_back(std::move(round));
}

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
    for (auto& [order, rows] : ordered) {
      const bool is_text = order.first == kNone64 && IsText(model, table, rows.front());
      if (!is_text) rounds.rounds.push_back(std::move(rows));
    }
    // The same is in files where there are some, with times.
    if (!rounds.rounds.empty()) continue;
    rounds.of_files = false;
    for (auto& [order, rows] : ordered) AddRoundsOfText(table, rows, rounds.rounds);
  }
  return result;
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
  finding.op = timeline::PublicOp(model.pools.Text(table.op[first]));
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
  const std::string_view what = rounds.of_files ? "files" : "rounds";
  Evidence evidence{fmt::format("the same collectives in {} {} of torch.distributed.debug one "
                                "after the other",
                                stuck.rounds, what),
                    "fr_trace_op",
                    {}};
  for (size_t row : stuck.rows) evidence.rows.push_back(static_cast<int64_t>(row));
  finding.evidence.push_back(std::move(evidence));
  finding.confidence = stuck.rounds > 2 ? 0.85 : 0.7;
  finding.why = fmt::format(
      "nothing moved in {} {}; ranks that wait in another collective are "
      "not blamed",
      stuck.rounds, what);
  finding.next_step = "See where that rank is: its stack, its output.";
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
               .makes = {},
               .uses = kTableNames<InputTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_fr_trace
