// Which line of the graph became which line of the generated code?
//
// Of each rank and graph the last text of each kind is taken: before_pre_grad_graph,
// after_post_grad_graph (older logs: inductor_pre_grad_graph, inductor_post_grad_graph),
// inductor_output_code, inductor_aot_wrapper_code, and the node mappings. The graph is that of the
// entry: tlparse takes any whose name ends alike, and mixes up 10/1 and 0/1. Payloads are read only
// where node mappings are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/provenance/line_maps.h"
#include "analyses/compile/rows.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/provenance_graph.h"
#include "tables/provenance_line.h"

namespace debrief::analyses::compile_provenance {

namespace {

enum Piece : uint8_t { kPre, kOldPre, kPost, kOldPost, kPython, kCpp, kMap, kPieces };

// How the file names of the pieces begin.
constexpr std::array<std::string_view, kPieces> kPrefixes = {
    "before_pre_grad_graph",
    "inductor_pre_grad_graph",
    "after_post_grad_graph",
    "inductor_post_grad_graph",
    "inductor_output_code",
    "inductor_aot_wrapper_code",
    "inductor_provenance_tracking_node_mappings"};

struct Graph {
  std::array<size_t, kPieces> rows;  // of compile_entry
  Graph() { rows.fill(kNoRow); }

  // The newer name of the two, where both are there.
  size_t pre() const { return rows[kPre] != kNoRow ? rows[kPre] : rows[kOldPre]; }
  size_t post() const { return rows[kPost] != kNoRow ? rows[kPost] : rows[kOldPost]; }
  size_t any() const {
    return *std::find_if(rows.begin(), rows.end(), [](size_t row) { return row != kNoRow; });
  }
};

using Graphs = std::map<std::tuple<int32_t, int32_t, std::string>, Graph>;  // input, rank, name

Piece PieceOf(std::string_view file) {
  for (uint8_t piece = 0; piece < kPieces; ++piece) {
    if (file.starts_with(kPrefixes[piece])) return static_cast<Piece>(piece);
  }
  return kPieces;
}

Graphs FindGraphs(const Model& model, const CompileEntryTable& entries) {
  Graphs graphs;
  AskOnce<Piece> piece_of(model.pools, PieceOf);
  for (size_t row = 0; row < entries.size(); ++row) {
    const Piece piece = piece_of(entries.file[row]);
    if (piece == kPieces) continue;
    std::tuple key(entries.input[row], entries.rank[row], GraphDirectory(entries, row));
    graphs[std::move(key)].rows[piece] = row;
  }
  return graphs;
}

Status ReadText(const Model& model, size_t row, std::string& text) {
  if (row == kNoRow) return {};
  return ReadPayload(model, model.tables.Get<CompileEntryTable>(), row, text);
}

// Null when there are no node mappings, or they or a text cannot be read.
std::optional<LineMaps> MakeMaps(const Model& model, const Graph& graph) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  size_t map_row = graph.rows[kMap];
  if (map_row == kNoRow) return std::nullopt;
  auto json = PayloadLines(model, entries, map_row);
  if (!json.ok()) return std::nullopt;
  auto node_maps = ReadNodeMaps(json.value().text());
  if (!node_maps) return std::nullopt;
  ProvenanceTexts texts;
  if (!ReadText(model, graph.pre(), texts.pre).ok() ||
      !ReadText(model, graph.post(), texts.post).ok() ||
      !ReadText(model, graph.rows[kPython], texts.python).ok() ||
      !ReadText(model, graph.rows[kCpp], texts.cpp).ok()) {
    return std::nullopt;
  }
  return MapLines(*node_maps, texts);
}

// Line numbers are keys of JSON objects when they are printed: sorted as texts.
std::vector<std::pair<std::string, int32_t>> PrintedOrder(const LineMap& lines) {
  std::vector<std::pair<std::string, int32_t>> order;
  for (const auto& [line, targets] : lines) order.emplace_back(fmt::format("{}", line), line);
  std::sort(order.begin(), order.end());
  return order;
}

void AddLines(const LineMaps& maps, ProvenanceLineRow row, Part& part) {
  for (size_t map = 0; map < maps.size(); ++map) {
    row.map = part.pools.Intern(kMapNames[map]);
    for (const auto& [text, line] : PrintedOrder(maps[map])) {
      row.line = line;
      row.targets = part.pools.lists.Intern(maps[map].at(line));
      part.tables.Edit<ProvenanceLineTable>().Add(row);
    }
  }
}

void AddGraph(const Model& model, const std::string& name, const Graph& graph, Part& part) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  size_t of = graph.any();
  auto entry = [&](size_t row) -> int64_t { return row == kNoRow ? kNone64 : entries.entry[row]; };
  auto row = RowLike<ProvenanceGraphRow>(entries, of);
  row.compile_id = ResultTexts(model.pools, part.pools)(entries.compile_id[of]);
  row.graph = part.pools.Intern(name);
  row.pre_entry = entry(graph.pre());
  row.post_entry = entry(graph.post());
  row.python_entry = entry(graph.rows[kPython]);
  row.cpp_entry = entry(graph.rows[kCpp]);
  row.map_entry = entry(graph.rows[kMap]);
  std::optional<LineMaps> maps = MakeMaps(model, graph);
  row.mapped = maps.has_value();
  part.tables.Edit<ProvenanceGraphTable>().Add(row);
  if (!maps) return;
  auto line = RowLike<ProvenanceLineRow>(entries, of);
  line.graph = row.graph;
  AddLines(*maps, line, part);
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const auto& [key, graph] : FindGraphs(model, model.tables.Get<CompileEntryTable>()))
    AddGraph(model, std::get<2>(key), graph, result.part);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_provenance",
               .scope = AnalysisScope::kRank,
               .sentence = "Which line of the graph became which line of the generated code?",
               .example = "tables that join lines of graphs and code; no findings of its own",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<ProvenanceGraphTable, ProvenanceLineTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_provenance
