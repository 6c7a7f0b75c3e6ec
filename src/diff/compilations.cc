// Functions compiled more or less often, reasons of recompilations, graph breaks, cache answers,
// guards.
#include <fmt/format.h>

#include "base/text/strings.h"
#include "diff/run_diff.h"
#include "diff/side.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_cache_use.h"
#include "tables/compile_guard.h"
#include "tables/compile_recompile.h"

namespace debrief::diff {

namespace {

// Calls `add` with name, rank and count of everything that occurs on a side.
template <typename Each>
Tally TallyOf(const Side& a, const Side& b, Each each) {
  Tally tally;
  each(a, [&](const std::string& name, int32_t rank, int64_t count) {
    tally.AddA(name, a.RankKey(rank), count);
  });
  each(b, [&](const std::string& name, int32_t rank, int64_t count) {
    tally.AddB(name, b.RankKey(rank), count);
  });
  return tally;
}

template <typename Add>
void EachCompilation(const Side& side, Add add) {
  const auto& table = side.model.tables.Get<CompilationTable>();
  const FunctionNames names(side);
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row)) continue;
    const std::string_view outcome = side.Text(table.outcome[row]);
    const bool went_wrong = outcome == "failed" || outcome == "unfinished";
    const std::string name = names.Of(table.function[row], table.file[row], table.line[row]);
    add(name, table.rank[row], 1);
    if (went_wrong) add(fmt::format("{}: {}", name, outcome), table.rank[row], 1);
  }
}

template <typename Add>
void EachRecompile(const Side& side, Add add) {
  const auto& table = side.model.tables.Get<CompileRecompileTable>();
  const FunctionNames names(side);
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row) || table.is_main[row] == 0) continue;
    if (!side.HasCompilation(side.Text(table.compile_id[row]))) continue;
    std::string name = names.OfCompilation(table.input[row], table.compile_id[row]);
    if (!name.empty()) name += ": ";
    name += fmt::format("{} of {}", side.Text(table.kind[row]), side.Text(table.source[row]));
    if (table.dimension[row] != kNone32)
      name += fmt::format(", dimension {}", table.dimension[row]);
    add(name, table.rank[row], 1);
  }
}

template <typename Add>
void EachBreak(const Side& side, Add add) {
  const auto& table = side.model.tables.Get<CompileBreakTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row)) continue;
    const std::string_view code = side.Text(table.user_code[row]);
    const std::string_view file = FileName(side.Text(table.user_file[row]));
    const std::string where = code.empty() ? fmt::format("{}:{}", file, table.user_line[row])
                                           : fmt::format("{}: {}", file, code);
    add(fmt::format("{} at {}", side.Text(table.reason[row]), where), table.rank[row],
        table.count[row]);
  }
}

template <typename Add>
void EachCacheAnswer(const Side& side, Add add) {
  const auto& table = side.model.tables.Get<CompileCacheUseTable>();
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row)) continue;
    if (!side.HasCompilation(side.Text(table.compile_id[row]))) continue;
    add(fmt::format("{}: {}", side.Text(table.cache[row]), side.Text(table.status[row])),
        table.rank[row], 1);
  }
}

// By what they check: their text has addresses and ids of the process in it.
template <typename Add>
void EachGuard(const Side& side, Add add) {
  const auto& table = side.model.tables.Get<CompileGuardTable>();
  const FunctionNames names(side);
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row)) continue;
    if (!side.HasCompilation(side.Text(table.compile_id[row]))) continue;
    std::string name = names.OfCompilation(table.input[row], table.compile_id[row]);
    if (!name.empty()) name += ": ";
    name += std::string(side.Text(table.kind[row]));
    const std::string_view source = side.Text(table.source[row]);
    if (!source.empty()) name += fmt::format(" {}", source);
    add(name, table.rank[row], 1);
  }
}

void AddMetric(std::string_view name, const Tally& tally, RunDiff& diff) {
  diff.metrics.push_back({name, Unit::kCount, tally.Sum()});
}

}  // namespace

void DiffCompiles(const Side& a, const Side& b, RunDiff& diff) {
  auto tally = [&](auto each) { return TallyOf(a, b, each); };
  if (a.compile_id.empty()) {
    const Tally compilations =
        tally([](const Side& side, auto add) { EachCompilation(side, add); });
    const Tally breaks = tally([](const Side& side, auto add) { EachBreak(side, add); });
    AddSection("compilations", "Compilations by function", compilations.Rows(), diff);
    AddSection("graph_breaks", "Graph breaks", breaks.Rows(), diff);
    AddMetric("compilations", compilations, diff);
    AddMetric("graph_breaks", breaks, diff);
  }
  const Tally recompiles = tally([](const Side& side, auto add) { EachRecompile(side, add); });
  AddSection("recompiles", "Reasons of recompilations", recompiles.Rows(), diff);
  AddMetric("recompiles", recompiles, diff);
  AddSection("caches", "Answers of compilation caches",
             tally([](const Side& side, auto add) { EachCacheAnswer(side, add); }).Rows(), diff);
  AddSection("guards", "Guards",
             tally([](const Side& side, auto add) { EachGuard(side, add); }).Rows(), diff);
}

}  // namespace debrief::diff
