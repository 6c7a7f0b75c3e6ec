// Where does compile time go? The compiler logs begin and end of its phases; paired, they give the
// time of each phase, of each compilation and of each area of the compiler.
//
// Own times are what is added up everywhere: a phase's time less that of the phases in it. So the
// areas of a compilation add up to its seconds and compilations to the rank's, nested or not. A log
// without events still has compilation metrics, which tell a little less.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "analyses/compile/time/phases.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/compile_autotune.h"
#include "tables/compile_entry.h"
#include "tables/compile_event.h"
#include "tables/compile_kernel.h"
#include "tables/compile_metrics.h"
#include "tables/compile_phase.h"
#include "tables/compile_phase_total.h"
#include "tables/compile_span.h"
#include "torch/code_words.h"

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

// One function that takes most of the compile time is where to begin: its name is the finding.

// Half: whatever else is made faster, less is won. Ten seconds on one rank is a choice;
// compilations that reach Inductor take 0.2 to 9 s each in the recorded log of mixed cases.
constexpr double kDominantShare = 0.5;
constexpr double kLongSeconds = 10;
constexpr size_t kMostIds = 8;

struct Function {
  double seconds = 0;
  std::map<int32_t, double> by_rank;
  std::vector<size_t> rows;
};

struct Attempt {
  double seconds = 0;
  std::map<std::tuple<std::string_view, std::string_view, int32_t>, Function> functions;
};

std::map<std::pair<int32_t, int32_t>, Attempt> Gather(const Part& part) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  std::map<std::pair<int32_t, int32_t>, Attempt> attempts;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!std::isfinite(spans.seconds[i])) continue;
    Attempt& attempt = attempts[{spans.job[i], spans.attempt[i]}];
    Function& function = attempt.functions[{part.pools.Text(spans.function[i]),
                                            part.pools.Text(spans.file[i]), spans.line[i]}];
    attempt.seconds += spans.seconds[i];
    function.seconds += spans.seconds[i];
    function.by_rank[spans.rank[i]] += spans.seconds[i];
    function.rows.push_back(i);
  }
  return attempts;
}

// The longest of its compilations, and what it did most of the time.
std::string LongestInWords(const Part& part, const Function& function) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  size_t longest = function.rows.front();
  for (size_t row : function.rows) {
    if (spans.seconds[row] > spans.seconds[longest]) longest = row;
  }
  return fmt::format(
      "the longest, {}, took {}: dynamo {}, AOT {}, inductor {}, code generation {}, kernels {}",
      part.pools.Text(spans.compile_id[longest]), SecondsText(spans.seconds[longest]),
      SecondsText(spans.dynamo_s[longest]), SecondsText(spans.aot_s[longest]),
      SecondsText(spans.inductor_s[longest]), SecondsText(spans.codegen_s[longest]),
      SecondsText(spans.triton_s[longest]));
}

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& spans = part.tables.Get<CompileSpanTable>();
  for (const auto& [who, attempt] : Gather(part)) {
    if (attempt.functions.size() < 2) continue;  // alone it dominates nothing
    for (const auto& [key, function] : attempt.functions) {
      const auto& [name, file, line] = key;
      double longest = 0;
      for (const auto& [rank, seconds] : function.by_rank) longest = std::max(longest, seconds);
      const double share = function.seconds / attempt.seconds;
      if (name.empty() || share < kDominantShare || longest < kLongSeconds) continue;
      Finding finding = NewFinding("compile.one_frame_dominates", who.first, who.second);
      finding.headline =
          fmt::format("{} takes {:.0f} % of the compile time: {}{} in {}",
                      CodeInWords(name, file, line), 100 * share, SecondsText(longest),
                      function.by_rank.size() > 1 ? " on the slowest rank" : "",
                      Plural(function.rows.size(), "compilation"));
      std::set<std::string_view> ids;
      for (size_t row : function.rows) {
        if (ids.size() < kMostIds) ids.insert(part.pools.Text(spans.compile_id[row]));
      }
      finding.compile_ids.assign(ids.begin(), ids.end());
      finding.source.push_back({function.by_rank.begin()->first, std::string(file), line});
      finding.evidence.push_back({.text = LongestInWords(part, function),
                                  .table = "compile_span",
                                  .rows = {function.rows.begin(), function.rows.end()}});
      finding.why = "sum over all compilations of the attempt, by the compiler's own events";
      finding.next_step =
          "See its phases: debrief query OUT \"SELECT name, sum(self_ns) / 1e9 AS seconds FROM "
          "compile_phase GROUP BY name ORDER BY seconds DESC\"";
      findings.push_back(std::move(finding));
    }
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
