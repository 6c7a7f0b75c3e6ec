// Which rank compiled something else, and what does compiling cost each rank? Ranks are compared by
// what they compiled, not by the order in which they did or the numbers they gave to it.
//
// What caches do is no difference: a rank that finds compiled code logs other things than one that
// makes it, so only graphs are compared that are logged either way. Payloads are read only where
// checksums differ; most graphs of a healthy job are the same to the byte.
#include "analyses/compile/rank_compare/rank_compare.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "model/compile/frames.h"
#include "tables/compile_entry.h"
#include "tables/compile_first_difference.h"
#include "tables/compile_overlap.h"
#include "tables/compile_phase.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

Status Run(const Model& model, AnalysisResult& result) {
  const std::vector<Job> jobs = GatherJobs(model);
  if (jobs.empty()) return {};
  const Graphs graphs = GatherGraphs(model);
  for (const Job& job : jobs) {
    AddTimes(model, job, result.part);
    std::vector<Difference> differences = CompareUnits(model, job, result.part);
    std::vector<Difference> of_graphs = CompareGraphs(model, job, graphs);
    differences.insert(differences.end(), std::make_move_iterator(of_graphs.begin()),
                       std::make_move_iterator(of_graphs.end()));
    AddFirstDifferences(model, job, differences, result.part);
    AddDifferenceFindings(model, job, differences, result.part, result.findings);
  }
  AddSlowFindings(result.part, result.findings);
  return {};
}

using Attempts = std::map<std::pair<int32_t, int32_t>, Job>;

// A rank that left a log and compiled nothing is a rank, too.
void AddRanks(const CompileEntryTable& entries, Attempts& attempts) {
  std::set<std::tuple<int32_t, int32_t, int32_t, int32_t>> seen;
  std::tuple<int32_t, int32_t, int32_t, int32_t> last = {kNone32, kNone32, kNone32, kNone32};
  int64_t* last_ns = nullptr;
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::tuple key(entries.job[i], entries.attempt[i], entries.rank[i], entries.life[i]);
    if (entries.rank[i] == kNone32) continue;
    if (key == last) *last_ns = std::max(*last_ns, entries.time_ns[i]);
    if (key == last) continue;
    last = key;
    Job& job = attempts[{entries.job[i], entries.attempt[i]}];
    last_ns = &job.last_ns.try_emplace(entries.rank[i], kNone64).first->second;
    *last_ns = std::max(*last_ns, entries.time_ns[i]);
    if (!seen.insert(key).second) continue;
    job.ranks_of_life[entries.life[i]].push_back(entries.rank[i]);
    job.ranks.push_back(entries.rank[i]);
  }
}

void SortUnique(std::vector<int32_t>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

void AddUnits(const Pools& pools, const CompileSpanTable& spans, Job& job) {
  for (const auto& [rank, rows] : job.spans) {
    std::map<UnitKey, int32_t> times;  // how often so far
    for (size_t row : rows) {
      if (spans.function[row] == StringId::kNone) continue;  // not known what it was
      UnitKey key = {.life = spans.life[row],
                     .function = pools.Text(spans.function[row]),
                     .file = ShortPath(pools.Text(spans.file[row])),
                     .line = spans.line[row]};
      const int32_t nth = times[key]++;
      key.nth = nth;
      job.units[key].emplace(rank, row);
    }
  }
}

// Caches decide whether later graphs are logged at all, and in what order; these always are, before
// a cache is asked or from what it keeps.
constexpr std::array<std::string_view, 9> kKinds = {
    "dynamo_output_graph", "compiled_autograd_graph",  "optimize_ddp_split_graph",
    "aot_joint_graph",     "aot_forward_graph",        "aot_backward_graph",
    "aot_inference_graph", "optimize_ddp_split_child", "inductor_pre_grad_graph"};
constexpr std::array<std::string_view, 2> kArtifacts = {"before_pre_grad_graph",
                                                        "recompile_reasons"};

template <const auto& kWanted>
bool IsAmong(std::string_view text) {
  return std::find(kWanted.begin(), kWanted.end(), text) != kWanted.end();
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_rank_compare",
               .sentence = "Which rank compiles something else than the others, or longer?",
               .example = "Rank 3 compiles extra (train.py:27), 2.4 s, which no other rank does",
               .needs = kTableNames<CompileEntryTable, CompileSpanTable>,
               .makes = kTableNames<CompileRankTimeTable, CompileOverlapTable, CompileRankOnlyTable,
                                    CompileFirstDifferenceTable>,
               .uses = kTableNames<CompilePhaseTable>},
      .run = Run};
  return kAnalysis;
}

std::vector<Job> GatherJobs(const Model& model) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  Attempts attempts;
  AddRanks(model.tables.Get<CompileEntryTable>(), attempts);
  for (size_t row = 0; row < spans.size(); ++row) {
    auto found = attempts.find({spans.job[row], spans.attempt[row]});
    if (found != attempts.end() && spans.rank[row] != kNone32)
      found->second.spans[spans.rank[row]].push_back(row);
  }
  std::vector<Job> jobs;
  for (auto& [who, job] : attempts) {
    std::tie(job.job, job.attempt) = who;
    SortUnique(job.ranks);
    for (auto& [life, ranks] : job.ranks_of_life) SortUnique(ranks);
    if (job.ranks.size() < 2) continue;
    AddUnits(model.pools, spans, job);
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Graphs GatherGraphs(const Model& model) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const auto& spans = model.tables.Get<CompileSpanTable>();
  std::map<std::pair<Process, std::string_view>, size_t> span_of;  // and compile id
  for (size_t row = 0; row < spans.size(); ++row)
    span_of.try_emplace({ProcessOf(spans, row), model.pools.Text(spans.compile_id[row])}, row);
  AskOnce<bool> is_kind(model.pools, IsAmong<kKinds>);
  AskOnce<bool> is_artifact(model.pools, IsAmong<kArtifacts>);
  Graphs graphs;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (entries.payload_bytes[row] <= 0) continue;
    if (!is_kind(entries.kind[row]) && !is_artifact(entries.name[row])) continue;
    auto found = span_of.find(
        {ProcessOf(entries, row), WithoutAttempt(model.pools.Text(entries.compile_id[row]))});
    if (found != span_of.end()) graphs[found->second].push_back(row);
  }
  return graphs;
}

}  // namespace debrief::analyses::compile_rank_compare
