// The rows that one graph gives.
#pragma once

#include <string>
#include <unordered_map>

#include "model/model.h"
#include "tables/compile_graph.h"
#include "torch/fx/graph.h"

namespace debrief::analyses::compile_graphs {

// Rows of the other tables that belong to one row of compile_graph.
struct RowRange {
  size_t op_begin = 0;
  size_t op_end = 0;
  size_t input_begin = 0;
  size_t input_end = 0;
};

class GraphRows {
 public:
  explicit GraphRows(Part& part) : part_(part) {}

  // Fills what the text tells of the graph and adds the rows of its operations and inputs.
  RowRange Add(const GraphNodes& graph, CompileGraphRow& row);

  // The same for a graph whose text is that of row `same` of compile_graph, with rows `range`.
  RowRange AddCopy(size_t same, const RowRange& range, CompileGraphRow& row);

 private:
  void Count(const GraphNodes& graph, CompileGraphRow& row);
  void AddInput(const FxNode& node, const CompileGraphRow& row, int32_t position);
  void CopyInputs(const RowRange& range, const CompileGraphRow& row, RowRange& copy);
  void AddOps(const CompileGraphRow& row);
  StringId OpText(const FxNode& node);
  StringId InternOrNone(std::string_view text);

  Part& part_;
  std::unordered_map<StringId, size_t> op_index_;  // into ops_
  std::vector<std::pair<StringId, int32_t>> ops_;  // of the graph at hand, in order of appearance
  std::string text_;
};

}  // namespace debrief::analyses::compile_graphs
