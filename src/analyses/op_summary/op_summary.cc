// Where did the time of recorded ops go? Sums per rank, op name and device; one finding per
// recording names the op that takes most. One pass over the ops.
#include "tables/op_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "tables/recorded_op.h"

namespace debrief::analyses::op_summary {

namespace {

constexpr std::array<std::string_view, 1> kNeeds = {"recorded_op"};
constexpr std::array<std::string_view, 1> kMakes = {"op_summary"};

struct Sum {
  int64_t count = 0;
  int64_t duration_ns = 0;
  int64_t memory_bytes = 0;
};

// Names rather than ids as keys: rows come out in alphabetical order.
using Owner = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank
using OpKey = std::tuple<std::string_view, std::string_view>;
using Sums = std::map<Owner, std::map<OpKey, Sum>>;

// Recorders write absurd numbers; the sum of them stays the largest there is.
void AddTo(int64_t& sum, int64_t number) {
  if (!__builtin_add_overflow(sum, number, &sum)) return;
  sum = number > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}

Sums AddUp(const Model& model) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  Sums sums;
  for (size_t i = 0; i < ops.size(); ++i) {
    Sum& sum = sums[{ops.job[i], ops.attempt[i], ops.rank[i]}]
                   [{model.pools.Text(ops.operation[i]), model.pools.Text(ops.device[i])}];
    ++sum.count;
    if (ops.duration_ns[i] != kNone64) AddTo(sum.duration_ns, ops.duration_ns[i]);
    if (ops.memory_bytes[i] != kNone64) AddTo(sum.memory_bytes, ops.memory_bytes[i]);
  }
  return sums;
}

void AddRow(const Owner& owner, const OpKey& key, const Sum& sum, int64_t total_ns,
            AnalysisResult& result) {
  OpSummaryRow row;
  std::tie(row.job, row.attempt, row.rank) = owner;
  row.operation = result.part.pools.Intern(std::get<0>(key));
  if (!std::get<1>(key).empty()) row.device = result.part.pools.Intern(std::get<1>(key));
  row.count = sum.count;
  row.duration_ns = sum.duration_ns;
  row.memory_bytes = sum.memory_bytes;
  if (total_ns > 0)
    row.share = static_cast<double>(sum.duration_ns) / static_cast<double>(total_ns);
  result.part.tables.Edit<OpSummaryTable>().Add(row);
}

void AddFinding(const Owner& owner, const std::map<OpKey, Sum>& ops, int64_t total_ns,
                int64_t first_row, AnalysisResult& result) {
  auto slowest = std::max_element(ops.begin(), ops.end(), [](const auto& a, const auto& b) {
    return a.second.duration_ns < b.second.duration_ns;
  });
  if (total_ns <= 0) return;
  const auto& [key, sum] = *slowest;
  Finding finding;
  finding.rule = "op_summary.slowest_op";
  std::tie(finding.job, finding.attempt, std::ignore) = owner;
  if (std::get<2>(owner) != kNone32) finding.ranks = {std::get<2>(owner)};
  finding.op = std::string(std::get<0>(key));
  double share = static_cast<double>(sum.duration_ns) / static_cast<double>(total_ns);
  finding.headline =
      fmt::format("{} takes {:.0f} % of the recorded op time ({:.3f} ms in {} calls)", finding.op,
                  share * 100, static_cast<double>(sum.duration_ns) / 1e6, sum.count);
  finding.evidence.push_back({.text = "sum over all ops of that name and device",
                              .table = "op_summary",
                              .rows = {first_row + std::distance(ops.begin(), slowest)}});
  finding.why = "added up from the recording";
  finding.next_step =
      "Compare with the other ops: debrief query OUT \"FROM op_summary ORDER BY duration_ns DESC\"";
  result.findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  int64_t first_row = 0;
  for (const auto& [owner, ops] : AddUp(model)) {
    int64_t total_ns = 0;
    for (const auto& [key, sum] : ops) AddTo(total_ns, sum.duration_ns);
    for (const auto& [key, sum] : ops) AddRow(owner, key, sum, total_ns, result);
    AddFinding(owner, ops, total_ns, first_row, result);
    first_row += static_cast<int64_t>(ops.size());
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "op_summary",
               .sentence = "Which recorded ops take the time?",
               .example = "matmul takes 61 % of the recorded op time (12.250 ms in 48 calls)",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::op_summary
