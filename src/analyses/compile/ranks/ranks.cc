// Did all ranks compile the same, and run it in the same order? Each question is asked twice where
// tlparse asks it wrongly: its way, so that its report can be made, and the right way.
//
//              tlparse                                      here, beside it
//   tensors    estimated times are part of the comparison   tensor_shapes: without them
//   runtimes   the k-th graphs of two ranks are compared    runtime_by_graph: those of one id
//   ops        those of all graphs are one sequence         collectives_by_graph: each by itself
//
// Cost: linear in the tables that it reads, payloads are not among them.

#include "analyses/analysis.h"
#include "analyses/compile/ranks/rank_logs.h"
#include "analyses/compile/ranks/verdicts.h"
#include "tables/compile_artifact_count.h"
#include "tables/compile_divergence.h"
#include "tables/compile_entry.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"

namespace debrief::analyses::compile_ranks {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable, CompileArtifactCountTable>;
constexpr auto kMakes = kTableNames<CompileRankCheckTable, CompileDivergenceTable,
                                    CompileRuntimeDeltaTable, CompileOrderTable>;

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [who, logs] : GatherRankLogs(model)) {
    Verdicts verdicts(model, who.first, who.second, result.part);
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
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_ranks
