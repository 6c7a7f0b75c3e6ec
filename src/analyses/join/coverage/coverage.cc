// Which ranks left nothing behind? A rank without a dump that all others have is often the one that
// broke the job; and a verdict drawn without it should say so.
//
// For each job, attempt and kind of input: the ranks that others show to exist (the world size, or
// every rank seen in any input of that attempt) minus those that left such an input. A kind that
// only a few ranks have (a profile of rank 0) is a choice, not a hole: more than half of the ranks
// must have it. A rank with an input that we could not open left something: it is not missing. Nor
// is the output of a rank that had nothing to say: an empty file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief::analyses::coverage {

namespace {

struct Attempt {
  std::set<int32_t> ranks;                               // known to exist
  std::map<StringId, std::map<int32_t, int64_t>> kinds;  // kind -> rank -> row of an input
  std::set<int32_t> unread;                              // have an input of unknown content
  std::set<int32_t> silent;                              // have an empty file
};

using Attempts = std::map<std::tuple<int32_t, int32_t>, Attempt>;

Attempts CollectAttempts(const Model& model) {
  Attempts attempts;
  const auto& ranks = model.tables.Get<RankTable>();
  for (size_t i = 0; i < ranks.size(); ++i)
    attempts[{ranks.job[i], ranks.attempt[i]}].ranks.insert(ranks.rank[i]);
  const auto& jobs = model.tables.Get<JobTable>();
  for (auto& [key, attempt] : attempts) {
    int32_t world_size = jobs.world_size[static_cast<size_t>(std::get<0>(key))];
    for (int32_t rank = 0; rank < world_size; ++rank) attempt.ranks.insert(rank);
  }
  const auto& inputs = model.tables.Get<InputTable>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.rank[i] == kNone32 || inputs.job[i] == kNone32) continue;
    Attempt& attempt = attempts[{inputs.job[i], inputs.attempt[i]}];
    attempt.kinds[inputs.kind[i]].emplace(inputs.rank[i], static_cast<int64_t>(i));
    if (model.pools.Text(inputs.kind[i]) != "unknown") continue;
    if (model.pools.Text(inputs.state[i]) == "failed") attempt.unread.insert(inputs.rank[i]);
    if (inputs.bytes[i] == 0) attempt.silent.insert(inputs.rank[i]);
  }
  return attempts;
}

// Ranks that should have left an input of a kind, and did not.
struct Hole {
  int32_t job;
  int32_t attempt;
  std::string_view kind;
  std::vector<int32_t> missing;
  size_t expected;
};

// What people call a kind of input.
std::string_view KindInWords(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"flight_recorder", "Flight Recorder dump"},
      {"job_text", "output (stdout or stderr)"},
      {"torch_trace", "compile log"},
      {"chrome_trace", "profile"},
      {"nsys", "profile of Nsight Systems"},
      {"rocpd", "profile of rocprofiler"},
      {"memory_snapshot", "memory snapshot"},
      {"execution_trace", "execution trace"},
      {"process_stacks", "stacks"},
      {"recording", "recording"}};
  for (const auto& [name, words] : kWords)
    if (name == kind) return words;
  return kind;
}

Finding Describe(const Model& model, const Hole& hole) {
  std::string who = RanksInWords(hole.missing);
  Finding finding;
  finding.rule = "coverage.missing_input";
  finding.severity = Severity::kWarning;
  finding.job = hole.job;
  finding.attempt = hole.attempt;
  finding.ranks = hole.missing;
  finding.headline =
      fmt::format("{} left no {}; {} of {} ranks did", RanksAsSubject(hole.missing),
                  KindInWords(hole.kind), hole.expected - hole.missing.size(), hole.expected);
  finding.evidence.push_back(
      {.text = fmt::format(
           "files of kind {} in job {}", hole.kind,
           model.pools.Text(model.tables.Get<JobTable>().name[static_cast<size_t>(hole.job)])),
       .table = {},
       .rows = {}});
  finding.why = "counted from the files found";
  finding.next_step = fmt::format(
      "Look for it on the host of {}; if there is none, the process died before it could write.",
      who);
  return finding;
}

void FindHoles(const Model& model, int32_t job, int32_t number, const Attempt& attempt,
               AnalysisResult& result) {
  for (const auto& [kind, rows] : attempt.kinds) {
    Hole hole{job, number, model.pools.Text(kind), {}, attempt.ranks.size()};
    for (int32_t rank : attempt.ranks) {
      bool is_there = rows.contains(rank) || attempt.unread.contains(rank) ||
                      (hole.kind == "job_text" && attempt.silent.contains(rank));
      if (!is_there) hole.missing.push_back(rank);
    }
    bool usual = rows.size() * 2 > attempt.ranks.size();
    if (hole.missing.empty() || !usual || hole.kind == "unknown") continue;
    Finding& finding = result.findings.emplace_back(Describe(model, hole));
    Evidence& evidence =
        finding.evidence.emplace_back(Evidence{"inputs of the other ranks", "input", {}});
    for (const auto& [rank, row] : rows) evidence.rows.push_back(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [key, attempt] : CollectAttempts(model)) {
    FindHoles(model, std::get<0>(key), std::get<1>(key), attempt, result);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "coverage",
               .sentence = "Which ranks left no dump, log or profile although the others did?",
               .example = "Rank 4 left no flight_recorder input, 7 of 8 ranks did (job crash)",
               .needs = kTableNames<InputTable, RankTable>,
               .makes = {},
               .uses = kTableNames<JobTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::coverage
