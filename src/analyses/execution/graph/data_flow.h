// The ops of one execution trace and who depends on whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "tables/execution_node.h"

namespace debrief::analyses::execution_graph {

// Numbers are places in Graph::ops.
struct Edge {
  uint32_t from = 0;
  int64_t bytes = 0;  // 0 where only the order is told
};

struct Graph {
  std::vector<size_t> ops;                // rows of execution_node, in the order in which they ran
  std::vector<std::vector<Edge>> before;  // what each op depends on
  std::vector<size_t> collectives;        // rows that say what a collective moves
};

// `rows`: those of one trace.
Graph BuildGraph(const Model& model, std::span<const size_t> rows);

// The longest chain. Ops that depend on themselves in a circle are on none.
struct Chain {
  std::vector<uint32_t> ops;  // in order
  int64_t cyclic = 0;
};
// By the number of ops, or by `durations` of all ops.
Chain LongestChain(const Graph& graph, std::span<const int64_t> durations);

}  // namespace debrief::analyses::execution_graph
