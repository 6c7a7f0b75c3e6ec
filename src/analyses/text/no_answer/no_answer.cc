// Which ranks do not answer the debug server of PyTorch? It asks all ranks every minute or so; one
// that answers no more is gone, stopped, or holds the GIL. Once may be chance: two files one after
// the other are believed, and only where most ranks do answer.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "tables/debug_no_answer.h"

namespace debrief::analyses::text_no_answer {

namespace {

struct Round {
  std::map<int32_t, size_t> rows;  // by rank
};

using Rounds = std::map<std::pair<int64_t, int32_t>, Round>;  // by time and input

// Ranks that are in the newest round and the one before it, with the row of the newest.
std::map<int32_t, size_t> InLastTwo(const Rounds& rounds) {
  std::map<int32_t, size_t> both;
  if (rounds.size() < 2) return both;
  const auto last = rounds.rbegin();
  const auto before = std::next(last);
  for (const auto& [rank, row] : last->second.rows) {
    if (before->second.rows.contains(rank)) both.emplace(rank, row);
  }
  return both;
}

Finding Report(const Model& model, const std::map<int32_t, size_t>& silent, size_t rounds) {
  const auto& table = model.tables.Get<DebugNoAnswerTable>();
  Finding finding;
  finding.rule = "text_no_answer.silent";
  finding.severity = Severity::kWarning;
  finding.role = Role::kCause;
  const size_t first = silent.begin()->second;
  finding.job = table.job[first];
  finding.attempt = table.attempt[first];
  Evidence evidence{
      fmt::format("rank {}: {}", silent.begin()->first, model.pools.Text(table.reason[first])),
      "debug_no_answer",
      {}};
  for (const auto& [rank, row] : silent) {
    finding.ranks.push_back(rank);
    evidence.rows.push_back(static_cast<int64_t>(row));
  }
  finding.headline = fmt::format("{} did not answer torch.distributed.debug {} times in a row",
                                 RanksAsSubject(finding.ranks), rounds);
  finding.evidence.push_back(std::move(evidence));
  finding.confidence = 0.5;
  finding.why =
      "the other ranks answered; a process that died, is stopped or holds the GIL does not";
  finding.next_step = "Look at the end of its output, and whether its process is there.";
  return finding;
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& table = model.tables.Get<DebugNoAnswerTable>();
  std::map<std::pair<int32_t, int32_t>, Rounds> attempts;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.job[i] == kNone32) continue;
    Rounds& rounds = attempts[{table.job[i], table.attempt[i]}];
    // Files of one time are of one round; those without a time are one each.
    const bool is_timed = table.time_ns[i] != kNone64;
    rounds[{table.time_ns[i], is_timed ? 0 : table.input[i]}].rows.emplace(table.rank[i], i);
  }
  for (const auto& [attempt, rounds] : attempts) {
    const std::map<int32_t, size_t> silent = InLastTwo(rounds);
    // More than a few at a time: then it is the network or the server.
    constexpr size_t kMost = 4;
    if (!silent.empty() && silent.size() <= kMost)
      result.findings.push_back(Report(model, silent, rounds.size()));
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_no_answer",
               .sentence = "Which ranks do not answer torch.distributed.debug?",
               .example = "Rank 3 did not answer torch.distributed.debug 2 times in a row",
               .needs = kTableNames<DebugNoAnswerTable>,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_no_answer
