// One graph as a table, a row a node; and the difference between two graphs.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::compile_summary {

// `which` is "1/0" (the graph that Dynamo captured) or "1/0:aot_forward_graph"; of several ranks
// the first. kNotFound names the graphs that there are.
Result<std::string> GraphTable(const Model& model, std::string_view which, size_t width);
Result<std::string> GraphDifference(const Model& model, std::string_view before,
                                    std::string_view now, size_t width);

}  // namespace debrief::outputs::compile_summary
