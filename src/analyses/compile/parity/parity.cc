// Does the generated code have the collectives that the scheduler planned, and does it wait for
// them? A collective that nothing waits for is read before it is there.
//
// Of each rank and graph the last schedule and the first generated code are compared, as tlparse
// does; a graph has a row when it has both. Code is read as Python, so that neither // nor < in an
// expression ends anything. Cost: one pass over those payloads.
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/artifact_json.h"
#include "analyses/compile/parity/collective_counts.h"
#include "analyses/compile/rows.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_parity.h"

namespace debrief::analyses::compile_parity {

namespace {

struct Graph {
  std::optional<size_t> schedule;  // rows of compile_entry
  std::optional<size_t> code;
};

using Graphs = std::map<std::tuple<int32_t, int32_t, std::string>, Graph>;  // input, rank, name

bool IsSchedule(const Model& model, const CompileEntryTable& entries, size_t row) {
  return model.pools.Text(entries.kind[row]) == "artifact" &&
         model.pools.Text(entries.detail[row]) == "json" &&
         model.pools.Text(entries.name[row]).starts_with("inductor_collective_schedule");
}

// Schedules first: without any, which is what most logs have, no code is looked at.
Graphs FindGraphs(const Model& model, const CompileEntryTable& entries) {
  Graphs graphs;
  auto key = [&](size_t row) {
    return std::tuple(entries.input[row], entries.rank[row], GraphDirectory(entries, row));
  };
  for (size_t row = 0; row < entries.size(); ++row) {
    if (IsSchedule(model, entries, row)) graphs[key(row)].schedule = row;
  }
  if (graphs.empty()) return graphs;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (model.pools.Text(entries.kind[row]) != "inductor_output_code") continue;
    auto at = graphs.find(key(row));
    if (at != graphs.end() && !at->second.code) at->second.code = row;
  }
  return graphs;
}

// Fills in `row`; false when one of the two cannot be read.
bool Compare(const Model& model, const Graph& graph, ArtifactReader& reader,
             CompileParityRow& row) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  auto json = PayloadLines(model, entries, *graph.schedule);
  auto ops = json.ok() ? reader.Schedule(json.value().text()) : std::nullopt;
  std::string code;
  if (!ops || !ReadPayload(model, entries, *graph.code, code).ok()) return false;
  CollectiveCounts scheduled;
  for (const std::string& op : *ops) scheduled.Add(op);
  const CollectiveCounts called = CountCalls(code);
  row.difference = 0;
  for (size_t kind = 0; kind < kCollectives.size(); ++kind)
    row.difference += std::abs(scheduled.by_kind[kind] - called.by_kind[kind]);
  row.missing_waits = std::max<int64_t>(0, called.total() - called.waits);
  return true;
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  ResultTexts texts(model.pools, result.part.pools);
  ArtifactReader reader;
  for (const auto& [key, graph] : FindGraphs(model, entries)) {
    if (!graph.code) continue;
    auto row = RowLike<CompileParityRow>(entries, *graph.schedule);
    if (!Compare(model, graph, reader, row)) continue;
    row.compile_id = texts(entries.compile_id[*graph.schedule]);
    row.graph = texts(std::get<2>(key));
    result.part.tables.Edit<CompileParityTable>().Add(row);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_parity",
               .scope = AnalysisScope::kRank,
               .sentence = "Does generated code have the collectives that were scheduled, and wait "
                           "for them?",
               .example = "a table with the difference for each graph; no findings of its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileParityTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_parity
