// How much of the recorded time is communication? Ops are told by the words of their names
// (op_trace::IsCommunication). Sums per rank and name, from op_summary; one pass over the ops for
// the time from the first to the last.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/columns.h"
#include "model/recorded_ops.h"
#include "tables/op_communication.h"
#include "tables/recorded_op.h"

namespace debrief::analyses::comm_share {

namespace {

// Below it communication is no answer to where the time went.
constexpr double kMuch = 0.3;

using Owner = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank

struct RankOps {
  OpSummaries sums;
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
};

std::map<Owner, RankOps> RanksOf(const Model& model) {
  const auto& table = model.tables.Get<OpSummaryTable>();
  const auto& ops = model.tables.Get<RecordedOpTable>();
  std::map<Owner, RankOps> ranks;
  for (size_t i = 0; i < table.size(); ++i)
    AddSummary(model.pools, table, i, ranks[{table.job[i], table.attempt[i], table.rank[i]}].sums);
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.start_ns[i] == kNone64) continue;
    RankOps& rank = ranks[{ops.job[i], ops.attempt[i], ops.rank[i]}];
    const int64_t duration = ops.duration_ns[i] == kNone64 ? 0 : ops.duration_ns[i];
    rank.start_ns = std::min(rank.start_ns, ops.start_ns[i]);
    rank.end_ns = std::max(rank.end_ns, ops.start_ns[i] + duration);
  }
  return ranks;
}

// What the ranks of one attempt come to.
struct AttemptSum {
  std::vector<int32_t> ranks;
  int64_t op_time_ns = 0, communication_ns = 0;
  int64_t largest_ns = 0;
  std::string largest;
  std::vector<int64_t> rows;
};

void AddRows(const Owner& owner, const RankOps& ops, AnalysisResult& result, AttemptSum& attempt) {
  std::vector<op_trace::OpSummary> sums;
  for (const auto& [name, op] : ops.sums) sums.push_back(op);
  int64_t op_time = 0;
  for (const op_trace::OpSummary& op : sums) {
    op_trace::AddTo(op_time, op.self_ns);
    if (op_trace::IsCommunication(op.operation))
      op_trace::AddTo(attempt.communication_ns, op.self_ns);
  }
  op_trace::AddTo(attempt.op_time_ns, op_time);
  if (std::get<2>(owner) != kNone32) attempt.ranks.push_back(std::get<2>(owner));
  auto& table = result.part.tables.Edit<OpCommunicationTable>();
  for (const op_trace::CommunicationShare& share :
       op_trace::CommunicationOf(sums, op_time, 0, op_trace::Behaviour::kCorrect)) {
    OpCommunicationRow row;
    std::tie(row.job, row.attempt, row.rank) = owner;
    row.operation = result.part.pools.Intern(share.operation);
    row.count = CountOf(share.count);
    row.duration_ns = share.duration_ns;
    row.of_op_time = share.of_op_time;
    if (ops.start_ns < ops.end_ns)
      row.of_wall_time =
          static_cast<double>(share.duration_ns) / static_cast<double>(ops.end_ns - ops.start_ns);
    attempt.rows.push_back(static_cast<int64_t>(table.size()));
    table.Add(row);
    if (share.duration_ns <= attempt.largest_ns) continue;
    attempt.largest_ns = share.duration_ns;
    attempt.largest = share.operation;
  }
}

void AddFinding(const std::pair<int32_t, int32_t>& who, const AttemptSum& attempt,
                AnalysisResult& result) {
  const double share =
      static_cast<double>(attempt.communication_ns) / static_cast<double>(attempt.op_time_ns);
  if (attempt.op_time_ns <= 0 || share < kMuch) return;
  Finding finding;
  finding.rule = "comm_share.much";
  std::tie(finding.job, finding.attempt) = who;
  finding.ranks = attempt.ranks;
  finding.op = attempt.largest;
  finding.headline = fmt::format("{:.0f} % of the recorded op time is communication, most of it {}",
                                 share * 100, CutMiddle(finding.op, 40));
  finding.evidence.push_back(
      {.text = "recorded ops that communicate", .table = "op_communication", .rows = attempt.rows});
  finding.why = "judged by the names of the ops; waiting for other ranks is part of it";
  finding.next_step = "Compare the ranks: debrief query OUT \"FROM op_communication\"";
  result.findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  std::map<std::pair<int32_t, int32_t>, AttemptSum> attempts;
  for (const auto& [owner, rank_ops] : RanksOf(model))
    AddRows(owner, rank_ops, result, attempts[{std::get<0>(owner), std::get<1>(owner)}]);
  for (const auto& [who, attempt] : attempts) AddFinding(who, attempt, result);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "comm_share",
               .sentence = "How much of the recorded op time is communication?",
               .example = "41 % of the recorded op time is communication, most of it "
                          "nccl:all_reduce",
               .needs = kTableNames<RecordedOpTable>,
               .makes = kTableNames<OpCommunicationTable>,
               .uses = kTableNames<OpSummaryTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::comm_share
