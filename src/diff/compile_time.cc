// Seconds of compiling, by area of the compiler; the samples are ranks.
#include <array>
#include <cmath>
#include <map>

#include "diff/run_diff.h"
#include "tables/compile_span.h"

namespace debrief::diff {

namespace {

constexpr int64_t kShortestCompileNs = 100'000'000;
constexpr size_t kAreas = 6;
constexpr std::array<std::string_view, kAreas> kNames = {
    "all areas", "Dynamo", "AOTAutograd", "Inductor", "code generation", "kernels (Triton, C++)"};

using Seconds = std::map<int32_t, std::array<int64_t, kAreas>>;  // nanoseconds by rank

int64_t Ns(double seconds) { return std::isnan(seconds) ? 0 : std::llround(seconds * 1e9); }

Seconds SecondsOf(const Side& side) {
  const auto& table = side.model.tables.Get<CompileSpanTable>();
  Seconds ranks;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!side.HasRow(table, row) || !side.HasCompilation(side.Text(table.compile_id[row])))
      continue;
    auto& sums = ranks[side.RankKey(table.rank[row])];
    const double areas[kAreas] = {table.seconds[row],    table.dynamo_s[row],  table.aot_s[row],
                                  table.inductor_s[row], table.codegen_s[row], table.triton_s[row]};
    for (size_t area = 0; area < kAreas; ++area) sums[area] += Ns(areas[area]);
  }
  return ranks;
}

std::vector<int64_t> Area(const Seconds& ranks, size_t area) {
  std::vector<int64_t> values;
  for (const auto& [rank, areas] : ranks) values.push_back(areas[area]);
  return values;
}

}  // namespace

void DiffCompileTime(const Side& a, const Side& b, RunDiff& diff) {
  const Seconds of_a = SecondsOf(a), of_b = SecondsOf(b);
  if (of_a.empty() || of_b.empty()) return;
  std::vector<Row> rows;
  const int64_t floor = a.compile_id.empty() ? kShortestCompileNs : 0;
  for (size_t area = 0; area < kAreas; ++area) {
    const Change change = ChangeOfRanks(Area(of_a, area), Area(of_b, area), floor);
    if (area == 0) diff.metrics.push_back({"compile_time", Unit::kNanoseconds, change});
    if (change.is_real)
      rows.push_back(RowOf(std::string(kNames[area]), Unit::kNanoseconds, change));
  }
  AddSection("compile_time", "Compile time of a rank", std::move(rows), diff);
}

}  // namespace debrief::diff
