// Where did the time of recorded ops go? Sums per rank, op name and device; one finding per
// recording names the op that takes most. One pass over the ops.
#include "tables/op_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/columns.h"
#include "base/text/units.h"
#include "model/recorded_ops.h"
#include "tables/recorded_op.h"

namespace debrief::analyses::op_summary {

namespace {

using Owner = std::tuple<int32_t, int32_t, int32_t>;                         // job, attempt, rank
using Sums = std::map<Owner, std::map<std::string_view, op_trace::OpSums>>;  // by device

struct SummaryOfDevice {
  op_trace::OpSummary op;
  std::string_view device;
};

Sums AddUp(const Model& model) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  Sums sums;
  for (size_t i = 0; i < ops.size(); ++i) {
    const op_trace::OpFacts op = FactsOf(model.pools, ops, i);
    sums[{ops.job[i], ops.attempt[i], ops.rank[i]}][op.device.value_or("")].Add(op);
  }
  return sums;
}

// In order of name, then of device.
std::vector<SummaryOfDevice> RowsOf(const std::map<std::string_view, op_trace::OpSums>& devices) {
  std::vector<SummaryOfDevice> rows;
  for (const auto& [device, sums] : devices) {
    for (op_trace::OpSummary& op : sums.Rows()) rows.push_back({std::move(op), device});
  }
  std::sort(rows.begin(), rows.end(), [](const SummaryOfDevice& a, const SummaryOfDevice& b) {
    return std::tie(a.op.operation, a.device) < std::tie(b.op.operation, b.device);
  });
  return rows;
}

double ShareOf(int64_t part, int64_t total) {
  return static_cast<double>(part) / static_cast<double>(total);
}

void AddRow(const Owner& owner, const SummaryOfDevice& sum, int64_t total_ns,
            AnalysisResult& result) {
  OpSummaryRow row;
  std::tie(row.job, row.attempt, row.rank) = owner;
  row.operation = result.part.pools.Intern(sum.op.operation);
  if (!sum.device.empty()) row.device = result.part.pools.Intern(sum.device);
  row.count = CountOf(sum.op.count);
  row.duration_ns = sum.op.duration_ns;
  row.self_ns = sum.op.self_ns;
  row.p50_ns = sum.op.p50_ns;
  row.p99_ns = sum.op.p99_ns;
  row.longest_ns = sum.op.longest_ns;
  row.memory_bytes = CountOf(sum.op.bytes);
  if (total_ns > 0) row.share = ShareOf(sum.op.self_ns, total_ns);
  result.part.tables.Edit<OpSummaryTable>().Add(row);
}

void AddFinding(const Owner& owner, const std::vector<SummaryOfDevice>& ops, int64_t total_ns,
                int64_t first_row, AnalysisResult& result) {
  auto slowest = std::max_element(ops.begin(), ops.end(), [](const auto& a, const auto& b) {
    return a.op.self_ns < b.op.self_ns;
  });
  if (total_ns <= 0) return;
  const op_trace::OpSummary& op = slowest->op;
  Finding finding;
  finding.rule = "op_summary.slowest_op";
  std::tie(finding.job, finding.attempt, std::ignore) = owner;
  if (std::get<2>(owner) != kNone32) finding.ranks = {std::get<2>(owner)};
  finding.op = op.operation;
  finding.headline = fmt::format("{} takes {:.0f} % of the recorded op time ({} in {})",
                                 CutMiddle(finding.op, 40), ShareOf(op.self_ns, total_ns) * 100,
                                 DurationText(op.self_ns), Plural(op.count, "call"));
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
  for (const auto& [owner, devices] : AddUp(model)) {
    const std::vector<SummaryOfDevice> ops = RowsOf(devices);
    int64_t total_ns = 0;
    for (const SummaryOfDevice& sum : ops) op_trace::AddTo(total_ns, sum.op.self_ns);
    for (const SummaryOfDevice& sum : ops) AddRow(owner, sum, total_ns, result);
    AddFinding(owner, ops, total_ns, first_row, result);
    first_row += static_cast<int64_t>(ops.size());
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "op_summary",
               .scope = AnalysisScope::kRank,
               .sentence = "Which recorded ops take the time?",
               .example = "matmul takes 61 % of the recorded op time (12.250 ms in 48 calls)",
               .needs = kTableNames<RecordedOpTable>,
               .makes = kTableNames<OpSummaryTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::op_summary
