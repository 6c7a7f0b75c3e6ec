// Which rank compiled something else, and what does compiling cost each rank? Ranks are compared by
// what they compiled, not by the order in which they did or the numbers they gave to it.
//
// What caches do is no difference: a rank that finds compiled code logs other things than one that
// makes it, so only graphs are compared that are logged either way. Payloads are read only where
// checksums differ; most graphs of a healthy job are the same to the byte.
#include <iterator>

#include "analyses/analysis.h"
#include "analyses/compile/rank_compare/compare.h"
#include "analyses/compile/rank_compare/findings.h"
#include "analyses/compile/rank_compare/times.h"
#include "tables/compile_entry.h"
#include "tables/compile_first_difference.h"
#include "tables/compile_overlap.h"
#include "tables/compile_rank_only.h"
#include "tables/compile_rank_time.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_rank_compare {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable, CompileSpanTable>;
constexpr auto kMakes = kTableNames<CompileRankTimeTable, CompileOverlapTable, CompileRankOnlyTable,
                                    CompileFirstDifferenceTable>;

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

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_rank_compare",
               .sentence = "Which rank compiles something else than the others, or longer?",
               .example = "Rank 3 compiles extra (train.py:27), 2.4 s, which no other rank does",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_rank_compare
