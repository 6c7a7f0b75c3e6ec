#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "compat/tlparse/data_files.h"
#include "compat/tlparse/rust_text.h"
#include "tables/compile_collective.h"
#include "tables/compile_parity.h"
#include "tables/compile_runtime_op.h"
#include "tables/provenance_graph.h"
#include "tables/provenance_line.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr int kIndent = 2;

// Rows of a graph in the order of its ops, by rank and name of the graph.
using GraphRows = std::map<std::pair<int32_t, std::string_view>, std::vector<size_t>>;

template <typename Table>
GraphRows ChosenRows(const Model& model, const Table& table, int32_t job, int32_t attempt) {
  GraphRows rows;
  for (size_t i = 0; i < table.size(); ++i) {
    if (!table.chosen[i] || table.job[i] != job || table.attempt[i] != attempt) continue;
    if (table.rank[i] == kNone32) continue;
    rows[{table.rank[i], model.pools.Text(table.graph[i])}].push_back(i);
  }
  return rows;
}

// The list of graphs; `add` writes one op.
template <typename Add>
std::string GraphsJson(const GraphRows& graphs, Add add) {
  std::string out;
  if (graphs.empty()) return out;
  JsonWriter json(&out, kIndent);
  json.BeginArray();
  for (const auto& [key, rows] : graphs) {
    json.BeginObject().Field("rank", key.first);
    json.Key("graph").Raw(SerdeString(key.second));
    json.Key("ops").BeginArray();
    for (size_t row : rows) add(json, row);
    json.EndArray().EndObject();
  }
  json.EndArray();
  return out;
}

uint32_t ThreadOf(int32_t rank, std::string_view graph) {
  FxHash hash;
  hash.AddWord(static_cast<uint32_t>(rank));
  hash.AddText(graph);
  return static_cast<uint32_t>(hash.value());
}

// As a cast in Rust does: what does not fit becomes the nearest that does.
int64_t ToInteger(double number) {
  constexpr double kMost = 9.2e18;
  return static_cast<int64_t>(std::clamp(number, -kMost, kMost));
}

struct TraceThread {
  int32_t rank;
  std::string_view graph;
  uint32_t id;
};

void AddOps(const Model& model, const TraceThread& thread, const std::vector<size_t>& rows,
            JsonWriter& json) {
  const auto& ops = model.tables.Get<CompileRuntimeOpTable>();
  int64_t time_us = 0;
  for (size_t row : rows) {
    double ns = ops.estimated_ns[row];
    int64_t duration_us = std::max<int64_t>(1, ToInteger(std::ceil(ns / 1000)));
    json.BeginObject().Key("args").BeginObject();
    json.Key("graph").Raw(SerdeString(thread.graph));
    json.Field("rank", thread.rank).Field("runtime_ns", ToInteger(ns)).EndObject();
    json.Field("cat", "runtime").Field("dur", duration_us);
    json.Key("name").Raw(SerdeString(model.pools.Text(ops.name[row])));
    json.Field("ph", "X").Field("pid", thread.rank).Field("tid", thread.id);
    json.Field("ts", time_us).EndObject();
    if (__builtin_add_overflow(time_us, duration_us, &time_us)) time_us = ToInteger(9e18);
  }
}

// A metadata event; `value` is JSON.
void AddMetadata(std::string_view name, std::string_view key, const std::string& value,
                 const TraceThread& thread, bool of_thread, JsonWriter& json) {
  json.BeginObject().Key("args").BeginObject().Key(key).Raw(value).EndObject();
  json.Field("name", name).Field("ph", "M").Field("pid", thread.rank);
  if (of_thread) json.Field("tid", thread.id);
  json.EndObject();
}

void AddProcesses(const std::vector<TraceThread>& threads, JsonWriter& json) {
  int32_t last = kNone32;
  for (const TraceThread& thread : threads) {
    if (thread.rank == last) continue;
    last = thread.rank;
    std::string number = fmt::format("{}", thread.rank);
    AddMetadata("process_name", "name", "\"Rank " + number + '"', thread, false, json);
    AddMetadata("process_sort_index", "sort_index", number, thread, false, json);
  }
}

void AddThreads(const std::vector<TraceThread>& threads, JsonWriter& json) {
  int32_t last = kNone32;
  int position = 0;
  for (const TraceThread& thread : threads) {
    if (thread.rank != last) position = 0;
    last = thread.rank;
    AddMetadata("thread_name", "name", SerdeString(fmt::format("graph {}", thread.graph)), thread,
                true, json);
    AddMetadata("thread_sort_index", "sort_index", fmt::format("{}", position++), thread, true,
                json);
  }
}

using GraphKey = std::tuple<int32_t, int32_t, std::string_view>;  // input, rank, graph

// compile_provenance writes its rows in the order of this key.
template <typename Table>
std::pair<size_t, size_t> RowsOf(const Model& model, const Table& table, const GraphKey& key) {
  auto key_of = [&](size_t row) {
    return GraphKey(table.input[row], table.rank[row], model.pools.Text(table.graph[row]));
  };
  auto rows = std::views::iota(size_t{0}, table.size());
  auto first = std::ranges::partition_point(rows, [&](size_t i) { return key_of(i) < key; });
  auto last =
      std::ranges::partition_point(first, rows.end(), [&](size_t i) { return key_of(i) == key; });
  return {*first, *last};
}

}  // namespace

std::string RuntimeEstimationsJson(const Model& model, int32_t job, int32_t attempt) {
  const auto& ops = model.tables.Get<CompileRuntimeOpTable>();
  return GraphsJson(ChosenRows(model, ops, job, attempt), [&](JsonWriter& json, size_t row) {
    json.BeginObject().Key("name").Raw(SerdeString(model.pools.Text(ops.name[row])));
    json.Key("estimated_runtime_ns").Raw(SerdeDouble(ops.estimated_ns[row])).EndObject();
  });
}

std::string CollectiveSchedulesJson(const Model& model, int32_t job, int32_t attempt) {
  const auto& ops = model.tables.Get<CompileCollectiveTable>();
  return GraphsJson(ChosenRows(model, ops, job, attempt), [&](JsonWriter& json, size_t row) {
    json.Raw(SerdeString(model.pools.Text(ops.op[row])));
  });
}

std::string RuntimeTraceJson(const Model& model, int32_t job, int32_t attempt) {
  GraphRows graphs = ChosenRows(model, model.tables.Get<CompileRuntimeOpTable>(), job, attempt);
  std::string out;
  if (graphs.empty()) return out;
  JsonWriter json(&out, kIndent);
  std::vector<TraceThread> threads;
  json.BeginArray();
  for (const auto& [key, rows] : graphs) {
    threads.push_back({key.first, key.second, ThreadOf(key.first, key.second)});
    AddOps(model, threads.back(), rows, json);
  }
  AddProcesses(threads, json);
  AddThreads(threads, json);
  json.EndArray();
  return out;
}

std::string CollectivesParityJson(const Model& model, int32_t input, int32_t rank) {
  const auto& parity = model.tables.Get<CompileParityTable>();
  std::string out;
  JsonWriter json(&out, kIndent);
  json.BeginObject().Field("description",
                           "Difference of # of collectives in scheduler and inductor output code "
                           "and missing wait collectives");
  json.Key("graphs").BeginArray();
  for (size_t i = 0; i < parity.size(); ++i) {
    if (parity.input[i] != input || parity.rank[i] != rank) continue;
    if (parity.difference[i] <= 0 && parity.missing_waits[i] <= 0) continue;
    std::string_view id = model.pools.Text(parity.compile_id[i]);
    json.BeginObject().Key("graph").Raw(SerdeString(model.pools.Text(parity.graph[i])));
    json.Key("compile_id").Raw(SerdeString(id.empty() ? "unknown" : fmt::format("[{}]", id)));
    json.Field("offset", parity.difference[i]).Field("missing_waits", parity.missing_waits[i]);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

std::string LineMappingsJson(const Model& model, int32_t input, int32_t rank,
                             std::string_view graph) {
  const auto& graphs = model.tables.Get<ProvenanceGraphTable>();
  auto [first_graph, last_graph] = RowsOf(model, graphs, {input, rank, graph});
  if (first_graph == last_graph || !graphs.mapped[first_graph]) return "{}";

  const auto& lines = model.tables.Get<ProvenanceLineTable>();
  std::map<std::string_view, std::vector<size_t>> maps = {
      {"cppCodeToPost", {}}, {"postToCppCode", {}}, {"postToPre", {}},
      {"postToPyCode", {}},  {"preToPost", {}},     {"pyCodeToPost", {}}};
  auto [first, last] = RowsOf(model, lines, {input, rank, graph});
  for (size_t i = first; i < last; ++i) maps[model.pools.Text(lines.map[i])].push_back(i);
  std::string out;
  JsonWriter json(&out, kIndent);
  json.BeginObject();
  for (const auto& [name, rows] : maps) {
    json.Key(name).BeginObject();
    for (size_t row : rows) {
      json.Key(fmt::format("{}", lines.line[row])).BeginArray();
      for (int64_t target : model.pools.lists.Get(lines.targets[row])) json.Value(target);
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndObject();
  return out;
}

}  // namespace debrief::outputs::tlparse_tree
