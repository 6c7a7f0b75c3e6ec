// Where does compile time go? The compiler logs begin and end of its phases; paired, they give the
// time of each phase, of each compilation and of each area of the compiler.
//
// Own times are what is added up everywhere: a phase's time less that of the phases in it. So the
// areas of a compilation add up to its seconds and compilations to the rank's, nested or not. A log
// without events still has compilation metrics, which tell a little less.
#include <array>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "analyses/compile/time/phases.h"
#include "tables/compile_autotune.h"
#include "tables/compile_entry.h"
#include "tables/compile_event.h"
#include "tables/compile_kernel.h"
#include "tables/compile_metrics.h"
#include "tables/compile_phase.h"
#include "tables/compile_phase_total.h"
#include "tables/compile_span.h"

namespace debrief::analyses::compile_time {

namespace {

void AddPhases(const std::vector<Phase>& phases, ResultTexts& texts, Part& part) {
  auto& table = part.tables.Edit<CompilePhaseTable>();
  std::array<StringId, kAreas> areas;
  for (size_t i = 0; i < areas.size(); ++i)
    areas[i] = part.pools.Intern(AreaName(static_cast<Area>(i)));
  for (const Phase& phase : phases) {
    auto row = Part::RowOf<CompilePhaseRow>(phase.who);
    row.input = phase.who.input;
    row.entry = phase.entry;
    row.life = phase.life;
    row.compile_id = texts(phase.compile_id);
    row.name = texts(phase.name);
    row.depth = phase.depth;
    if (phase.parent != kNoRow) row.parent = texts(phases[phase.parent].name);
    row.start_ns = phase.start_ns;
    row.end_ns = phase.end_ns;
    row.self_ns = phase.self_ns;
    row.area = areas[static_cast<size_t>(phase.area)];
    row.open = phase.open;
    table.Add(row);
  }
}

using RankKey = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank

void AddTotals(const std::vector<Phase>& phases, ResultTexts& texts, Part& part) {
  std::map<std::pair<RankKey, StringId>, CompilePhaseTotalRow> totals;
  std::map<RankKey, int64_t> self_ns;
  for (const Phase& phase : phases) {
    const RankKey rank(phase.who.job, phase.who.attempt, phase.who.rank);
    auto [at, is_new] = totals.try_emplace({rank, texts(phase.name)});
    CompilePhaseTotalRow& row = at->second;
    if (is_new) {
      row = Part::RowOf<CompilePhaseTotalRow>(phase.who);
      row.name = texts(phase.name);
      row.area = part.pools.Intern(AreaName(phase.area));
      row.count = row.open = row.total_ns = row.self_ns = 0;
    }
    ++row.count;
    if (phase.open) ++row.open;
    if (!phase.inside_same) row.total_ns = AddTimes(row.total_ns, phase.end_ns - phase.start_ns);
    row.self_ns = AddTimes(row.self_ns, phase.self_ns);
    int64_t& all = self_ns[rank];
    all = AddTimes(all, phase.self_ns);
  }
  for (auto& [key, row] : totals) {
    const int64_t all = self_ns[key.first];
    row.share = all == 0 ? 0 : static_cast<double>(row.self_ns) / static_cast<double>(all);
    part.tables.Edit<CompilePhaseTotalTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  std::vector<Phase> phases = FindPhases(model);
  ResultTexts texts(model.pools, result.part.pools);
  AddKernels(model, phases, result.part);
  AddPhases(phases, texts, result.part);
  AddTotals(phases, texts, result.part);
  AddSpans(model, phases, result.part);
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_time",
               .sentence = "Where does compile time go: phases, compilations, kernels?",
               .example = "forward (model.py:27) takes 71 % of the compile time: 214.0 s in 9 "
                          "compilations",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompilePhaseTable, CompileSpanTable, CompilePhaseTotalTable,
                                    CompileKernelTable, CompileAutotuneTable>,
               .uses = kTableNames<CompileEventTable, CompileMetricsTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_time
