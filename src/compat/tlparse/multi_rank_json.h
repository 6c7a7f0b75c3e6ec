// The JSON files that tlparse makes of several ranks, and of the lines of one graph, from the
// tables of the analyses compile_artifacts, compile_parity and compile_provenance. Byte for byte
// tlparse's, but for the order of graphs: it takes them as the file system lists them, here they
// are in the order of their names.
//
// Cost: one pass over the table for each call; LineMappingsJson is called for each of many graphs
// and finds its rows by bisection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::tlparse_tree {

// Each is empty when there is nothing to tell and tlparse would not write the file.
// [{"rank": 0, "graph": "-_0_1_0", "ops": [{"name": "mm", "estimated_runtime_ns": 1.5}]}]
std::string RuntimeEstimationsJson(const Model& model, int32_t job, int32_t attempt);
// [{"rank": 0, "graph": "-_0_1_0", "ops": ["torch.ops..."]}]
std::string CollectiveSchedulesJson(const Model& model, int32_t job, int32_t attempt);
// Chrome trace: the ops of each graph end to end, a thread a graph, a process a rank.
std::string RuntimeTraceJson(const Model& model, int32_t job, int32_t attempt);

// rank_N/collectives_parity.json: graphs whose code differs from their schedule. Never empty.
std::string CollectivesParityJson(const Model& model, int32_t input, int32_t rank);

// What the provenance page of `graph` has in its script element; "{}" without node mappings. Not
// escaped for HTML: it has nothing but digits and fixed words.
std::string LineMappingsJson(const Model& model, int32_t input, int32_t rank,
                             std::string_view graph);

}  // namespace debrief::outputs::tlparse_tree
