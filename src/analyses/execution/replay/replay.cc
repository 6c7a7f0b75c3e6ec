// Does an execution trace hold what a profile of the same rank holds? Who replays a trace wants to
// know that it is the step that was measured. Ops are compared by the number that PyTorch gives
// every record function; where these are not of one recording, by how often each name occurs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "tables/execution_node.h"
#include "tables/execution_replay.h"
#include "tables/timeline_record.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::execution_replay {

namespace {

using Rank = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank

// Ops of one trace or profile.
struct Ops {
  std::unordered_map<int64_t, StringId> by_id;  // record function id -> name
  std::map<std::string_view, int64_t> by_name;  // counts
  int64_t count = 0;
};

struct Sides {
  std::map<int32_t, Ops> traces;    // by input
  std::map<int32_t, Ops> profiles;  // by input
};

void AddOp(const Model& model, StringId name, Ops& ops) {
  ++ops.by_name[model.pools.Text(name)];
  ++ops.count;
}

void AddNodes(const Model& model, std::map<Rank, Sides>& ranks) {
  const auto& nodes = model.tables.Get<ExecutionNodeTable>();
  for (size_t row = 0; row < nodes.size(); ++row) {
    const bool is_op = nodes.scope[row] == 0 || nodes.scope[row] == 1;
    if (!is_op) continue;
    Ops& ops =
        ranks[{nodes.job[row], nodes.attempt[row], nodes.rank[row]}].traces[nodes.input[row]];
    AddOp(model, nodes.name[row], ops);
    if (nodes.rf_id[row] != kNone64) ops.by_id[nodes.rf_id[row]] = nodes.name[row];
  }
}

void AddSlices(const Model& model, std::map<Rank, Sides>& ranks) {
  const auto& slices = model.tables.Get<TimelineSliceTable>();
  for (size_t row = 0; row < slices.size(); ++row) {
    auto sides = ranks.find({slices.job[row], slices.attempt[row], slices.rank[row]});
    if (sides == ranks.end() || model.pools.Text(slices.kind[row]) != "op") continue;
    AddOp(model, slices.name[row], sides->second.profiles[slices.input[row]]);
  }
  const auto& records = model.tables.Get<TimelineRecordTable>();
  for (size_t row = 0; row < records.size(); ++row) {
    auto sides = ranks.find({records.job[row], records.attempt[row], records.rank[row]});
    if (sides != ranks.end())
      sides->second.profiles[records.input[row]].by_id[records.record_function[row]] =
          records.name[row];
  }
}

// Ids of one recording agree in most names; those of two recordings agree by chance alone.
bool CompareIds(const Model& model, const Ops& trace, const Ops& profile, ExecutionReplayRow& row,
                std::string& difference) {
  constexpr double kOfOneRecording = 0.5;
  int64_t both = 0, same = 0, first_other = kNone64;
  for (const auto& [id, name] : trace.by_id) {
    const auto other = profile.by_id.find(id);
    if (other == profile.by_id.end()) continue;
    ++both;
    const bool equal = model.pools.Text(other->second) == model.pools.Text(name);
    same += equal ? 1 : 0;
    if (equal || (first_other != kNone64 && first_other < id)) continue;
    first_other = id;
    difference = fmt::format("{}: {} in the trace, {} in the profile", id, model.pools.Text(name),
                             model.pools.Text(other->second));
  }
  if (both == 0 || static_cast<double>(same) < kOfOneRecording * static_cast<double>(both))
    return false;
  row.ops = static_cast<int64_t>(trace.by_id.size());
  row.profile_ops = static_cast<int64_t>(profile.by_id.size());
  row.same = same;
  row.renamed = both - same;
  row.missing = row.ops - both;
  row.extra = row.profile_ops - both;
  return true;
}

void CompareNames(const Ops& trace, const Ops& profile, ExecutionReplayRow& row,
                  std::string& difference) {
  row.ops = trace.count;
  row.profile_ops = profile.count;
  row.same = 0;
  int64_t most = 0;
  auto compare = [&](std::string_view name, int64_t a, int64_t b) {
    row.same += std::min(a, b);
    if (std::abs(a - b) <= most) return;
    most = std::abs(a - b);
    difference = fmt::format("{}: {} in the trace, {} in the profile", name, a, b);
  };
  for (const auto& [name, count] : trace.by_name) {
    const auto other = profile.by_name.find(name);
    compare(name, count, other == profile.by_name.end() ? 0 : other->second);
  }
  for (const auto& [name, count] : profile.by_name) {
    if (!trace.by_name.contains(name)) compare(name, 0, count);
  }
  row.missing = row.ops - row.same;
  row.extra = row.profile_ops - row.same;
}

// Ids of one recording with other names: one of the two files was changed or mixed up.
void Report(const ExecutionReplayRow& row, size_t at, std::string_view difference,
            std::vector<Finding>& findings) {
  if (row.renamed <= 0) return;
  Finding finding;
  finding.rule = "execution_replay.differs";
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  finding.job = row.job;
  finding.attempt = row.attempt;
  finding.ranks = {row.rank};
  finding.headline =
      fmt::format("Rank {}: {} of {} ops of the execution trace have another name in its profile",
                  row.rank, row.renamed, row.ops);
  finding.evidence.push_back(
      {fmt::format("the first: {}", difference), "execution_replay", {static_cast<int64_t>(at)}});
  finding.why = "ops are matched by record function id";
  finding.next_step = "Record trace and profile in one run, of the same step, before a replay.";
  findings.push_back(std::move(finding));
}

void Compare(const Model& model, const Rank& rank, int32_t input, const Ops& trace,
             int32_t profile_input, const Ops& profile, AnalysisResult& result) {
  ExecutionReplayRow row;
  std::tie(row.job, row.attempt, row.rank) = rank;
  row.input = input;
  row.profile = profile_input;
  std::string difference;
  const bool by_id = CompareIds(model, trace, profile, row, difference);
  if (!by_id) {
    difference.clear();
    CompareNames(trace, profile, row, difference);
  }
  Pools& pools = result.part.pools;
  row.basis = pools.Intern(by_id ? "record function ids" : "names");
  if (!difference.empty()) row.difference = pools.Intern(difference);
  auto& rows = result.part.tables.Edit<ExecutionReplayTable>();
  rows.Add(row);
  if (by_id) Report(row, rows.size() - 1, difference, result.findings);
}

Status Run(const Model& model, AnalysisResult& result) {
  std::map<Rank, Sides> ranks;
  AddNodes(model, ranks);
  AddSlices(model, ranks);
  for (const auto& [rank, sides] : ranks) {
    for (const auto& [input, trace] : sides.traces) {
      for (const auto& [profile_input, profile] : sides.profiles)
        Compare(model, rank, input, trace, profile_input, profile, result);
    }
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "execution_replay",
               .scope = AnalysisScope::kRank,
               .sentence = "Does an execution trace hold the ops of a profile of the same rank?",
               .example = "Rank 0: 12 of 6690 ops of the execution trace have another name in its "
                          "profile",
               .needs = kTableNames<ExecutionNodeTable, TimelineSliceTable>,
               .makes = kTableNames<ExecutionReplayTable>,
               .uses = kTableNames<TimelineRecordTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::execution_replay
