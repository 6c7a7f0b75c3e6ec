// The differences between two graphs of one kind, from the rows that both have given.
#pragma once

#include "analyses/compile/graphs/graph_rows.h"

namespace debrief::analyses::compile_graphs {

struct GraphRef {
  size_t row = 0;  // of compile_graph
  RowRange range;
};

// Nothing when their hashes are equal. Cost: the rows of both.
void AddChanges(Part& part, const GraphRef& before, const GraphRef& now);

}  // namespace debrief::analyses::compile_graphs
