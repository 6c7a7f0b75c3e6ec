// A hash of what a graph computes.
//
// Equal on every rank, in every run and in every version of this program for the same operations,
// types, shapes, strides, constants and connections. Names of nodes, source places, addresses,
// device numbers, numbers of Triton kernels, names of symbols and names of process groups that are
// numbers do not count: nodes, symbols and groups are numbered in the order in which they appear.
// One pass over the expressions, then MD5: HashBytes may change between versions.
#pragma once

#include <string>

#include "torch/fx/graph.h"

namespace debrief {

// 32 hexadecimal digits.
std::string GraphHash(const GraphNodes& graph);

// What GraphHash looks at of one node, with its inputs as "%", appended to `text`: equal for two
// nodes that do the same to their inputs.
void AppendNodeShape(const GraphNodes& graph, const FxNode& node, std::string& text);

}  // namespace debrief
