// Functions compiled more or less often, reasons of recompilations, graph breaks, cache answers,
// guards.
#include <fmt/format.h>

#include <functional>

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

using Add = std::function<void(const std::string& name, int64_t count)>;

// Counts by name what the rows of a table tell: `each(side, names, table, row, add)`.
template <typename Table, typename Each>
Tally TallyOf(const Side& a, const Side& b, Each each) {
  Tally tally;
  for (const Side* side : {&a, &b}) {
    const auto& table = side->model.tables.Get<Table>();
    const FunctionNames names(*side);
    for (size_t row = 0; row < table.size(); ++row) {
      if (!side->HasRow(table, row)) continue;
      const Add add = [&](const std::string& name, int64_t count) {
        const int32_t rank = side->RankKey(table.rank[row]);
        side == &a ? tally.AddA(name, rank, count) : tally.AddB(name, rank, count);
      };
      each(*side, names, table, row, add);
    }
  }
  return tally;
}

void AddCompilation(const Side& side, const FunctionNames& names, const CompilationTable& table,
                    size_t row, const Add& add) {
  const std::string_view outcome = side.Text(table.outcome[row]);
  const std::string name = names.Of(table.function[row], table.file[row], table.line[row]);
  add(name, 1);
  if (outcome == "failed" || outcome == "unfinished") add(fmt::format("{}: {}", name, outcome), 1);
}

// "forward (model.py): " of what belongs to a compilation.
template <typename Table>
std::string FunctionOf(const FunctionNames& names, const Table& table, size_t row) {
  const std::string name = names.OfCompilation(table.input[row], table.compile_id[row]);
  return name.empty() ? name : name + ": ";
}

void AddRecompile(const Side& side, const FunctionNames& names, const CompileRecompileTable& table,
                  size_t row, const Add& add) {
  if (table.is_main[row] == 0 || !side.HasCompilation(side.Text(table.compile_id[row]))) return;
  std::string name = FunctionOf(names, table, row);
  const std::string_view source = side.Text(table.source[row]);
  name += source.empty() ? std::string(side.Text(table.change[row]))
                         : fmt::format("{} of {}", side.Text(table.kind[row]), source);
  if (table.dimension[row] != kNone32) name += fmt::format(", dimension {}", table.dimension[row]);
  add(name, 1);
}

void AddBreak(const Side& side, const FunctionNames&, const CompileBreakTable& table, size_t row,
              const Add& add) {
  const std::string_view code = side.Text(table.user_code[row]);
  const std::string_view file = FileName(side.Text(table.user_file[row]));
  const std::string where = code.empty() ? fmt::format("{}:{}", file, table.user_line[row])
                                         : fmt::format("{}: {}", file, code);
  add(fmt::format("{} at {}", side.Text(table.reason[row]), where), table.count[row]);
}

void AddCacheAnswer(const Side& side, const FunctionNames&, const CompileCacheUseTable& table,
                    size_t row, const Add& add) {
  if (side.HasCompilation(side.Text(table.compile_id[row])))
    add(fmt::format("{}: {}", side.Text(table.cache[row]), side.Text(table.status[row])), 1);
}

// By what they check: their text has addresses and ids of the process in it.
void AddGuard(const Side& side, const FunctionNames& names, const CompileGuardTable& table,
              size_t row, const Add& add) {
  if (!side.HasCompilation(side.Text(table.compile_id[row]))) return;
  const std::string_view source = side.Text(table.source[row]);
  add(fmt::format("{}{}{}{}", FunctionOf(names, table, row), side.Text(table.kind[row]),
                  source.empty() ? "" : " ", source),
      1);
}

void AddMetric(std::string_view name, const Tally& tally, RunDiff& diff) {
  diff.metrics.push_back({name, Unit::kCount, tally.Sum()});
}

}  // namespace

void DiffCompiles(const Side& a, const Side& b, RunDiff& diff) {
  if (a.compile_id.empty()) {
    const Tally compilations = TallyOf<CompilationTable>(a, b, AddCompilation);
    const Tally breaks = TallyOf<CompileBreakTable>(a, b, AddBreak);
    AddSection("compilations", "Compilations by function", compilations.Rows(), diff);
    AddSection("graph_breaks", "Graph breaks", breaks.Rows(), diff);
    AddMetric("compilations", compilations, diff);
    AddMetric("graph_breaks", breaks, diff);
  }
  const Tally recompiles = TallyOf<CompileRecompileTable>(a, b, AddRecompile);
  AddSection("recompiles", "Reasons of recompilations", recompiles.Rows(), diff);
  AddMetric("recompiles", recompiles, diff);
  AddSection("caches", "Answers of compilation caches",
             TallyOf<CompileCacheUseTable>(a, b, AddCacheAnswer).Rows(), diff);
  AddSection("guards", "Guards", TallyOf<CompileGuardTable>(a, b, AddGuard).Rows(), diff);
}

}  // namespace debrief::diff
