// The rows that one graph gives, and the differences between two graphs from the rows of both.
#pragma once

#include <vector>

#include "model/model.h"
#include "tables/compile_graph.h"
#include "tables/compile_graph_change.h"
#include "tables/compile_graph_input.h"
#include "tables/compile_graph_op.h"
#include "torch/fx/graph.h"

namespace debrief::analyses::compile_graphs {

// What the text of a graph tells, whoever logged it: graphs of the same text share it.
struct GraphContent {
  CompileGraphRow row;
  std::vector<CompileGraphOpRow> ops;  // in order of appearance
  std::vector<CompileGraphInputRow> inputs;
};

GraphContent ReadContent(const GraphNodes& graph, Pools& pools);

// What changed from `before` to `now`, as rows like `row`; none when their hashes are equal. Cost:
// the rows of both.
std::vector<CompileGraphChangeRow> FindChanges(const GraphContent& before, const GraphContent& now,
                                               CompileGraphChangeRow row, Pools& pools);

}  // namespace debrief::analyses::compile_graphs
