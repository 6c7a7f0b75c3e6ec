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
#include "analyses/compile/parity/collective_counts.h"
#include "base/json/cursor.h"
#include "model/compile/graph.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_parity.h"

namespace debrief::analyses::compile_parity {

namespace {

constexpr auto kNeeds = kTableNames<CompileEntryTable>;
constexpr auto kMakes = kTableNames<CompileParityTable>;

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

Result<CollectiveCounts> CountScheduled(std::string_view json, JsonReader& reader) {
  CollectiveCounts counts;
  if (json.empty()) return Status(Code::kInvalid, "no payload");
  TRY(reader.Open(json));
  TRY(reader.root().ForEachElement([&](JsonValue element) -> Status {
    auto op = element.String();
    if (!op) return Status(Code::kInvalid, "an op that is no text");
    counts.Add(*op);
    return {};
  }));
  return counts;
}

Result<CompileParityRow> Compare(const Model& model, const Graph& graph, JsonReader& reader) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  ASSIGN_OR_RETURN(ByteView json, PayloadLines(model, entries, *graph.schedule));
  ASSIGN_OR_RETURN(CollectiveCounts scheduled, CountScheduled(json.text(), reader));
  std::string code;
  TRY(ReadPayload(model, entries, *graph.code, code));
  CollectiveCounts called = CountCalls(code);
  CompileParityRow row;
  row.difference = 0;
  for (size_t kind = 0; kind < kCollectives.size(); ++kind)
    row.difference += std::abs(scheduled.by_kind[kind] - called.by_kind[kind]);
  row.missing_waits = std::max<int64_t>(0, called.total() - called.waits);
  return row;
}

Status Run(const Model& model, AnalysisResult& result) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  JsonReader reader;
  for (const auto& [key, graph] : FindGraphs(model, entries)) {
    if (!graph.code) continue;
    auto compared = Compare(model, graph, reader);
    if (!compared.ok()) continue;  // what cannot be read is not compared
    CompileParityRow row = compared.value();
    size_t of = *graph.schedule;
    row.job = entries.job[of];
    row.attempt = entries.attempt[of];
    row.rank = entries.rank[of];
    row.input = entries.input[of];
    if (entries.compile_id[of] != StringId::kNone)
      row.compile_id = result.part.pools.Intern(model.pools.Text(entries.compile_id[of]));
    row.graph = result.part.pools.Intern(std::get<2>(key));
    result.part.tables.Edit<CompileParityTable>().Add(row);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_parity",
               .sentence = "Does generated code have the collectives that were scheduled, and wait "
                           "for them?",
               .example = "a table with the difference for each graph; no findings of its own",
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_parity
