// The files of a tree that are data: the log again, whole and as JSON (raw_files.cc); all trace
// events (event_file.cc); and what tlparse makes of several ranks, and of the lines of one graph,
// from the tables of the analyses compile_artifacts, compile_parity and compile_provenance
// (multi_rank_json.cc). Byte for byte tlparse's, but for the order of graphs: it takes them as the
// file system lists them, here they are in the order of their names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/threads/thread_pool.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/plan.h"
#include "model/model.h"

namespace debrief::outputs::tlparse_tree {

// A copy of the log, byte for byte.
Status WriteRawLog(const Model& model, const TreePlan& plan, FileSink& sink);

// {"string_table":[...]}, then an entry a line: its JSON with sorted keys, and what the prefix
// tells (lineno, pathname, thread, timestamp) and payload_filename. Counts what cannot be written
// in `stats` and says so in `messages`.
Status WriteRawLines(const Model& model, TreePlan& plan, ThreadPool& pool, FileSink& sink);

// {"[0/0]": {"artifacts": [{"name": ..., "number": ..., "url": ...}]}}, ids sorted as text.
std::string DirectoryJson(const TreePlan& plan);

// chromium_events.json: the events of one plan after the other, each plan's in the order of the
// log, keys sorted, as one pretty JSON array; payloads that are no JSON are left out. `of_many`:
// plans are of several ranks, and each event gets its rank as `pid`.
Status WriteEvents(const Model& model, std::span<const TreePlan> plans, bool of_many,
                   ThreadPool& pool, FileSink& sink);

// Each is empty when there is nothing to tell and tlparse would not write the file. Cost: one pass
// over the table for each call.
// [{"rank": 0, "graph": "-_0_1_0", "ops": [{"name": "mm", "estimated_runtime_ns": 1.5}]}]
std::string RuntimeEstimationsJson(const Model& model, int32_t job, int32_t attempt);
// [{"rank": 0, "graph": "-_0_1_0", "ops": ["torch.ops..."]}]
std::string CollectiveSchedulesJson(const Model& model, int32_t job, int32_t attempt);
// Chrome trace: the ops of each graph end to end, a thread a graph, a process a rank.
std::string RuntimeTraceJson(const Model& model, int32_t job, int32_t attempt);

// rank_N/collectives_parity.json: graphs whose code differs from their schedule. Never empty.
std::string CollectivesParityJson(const Model& model, int32_t input, int32_t rank);

// What the provenance page of `graph` has in its script element; "{}" without node mappings. Not
// escaped for HTML: it has nothing but digits and fixed words. Called for each of many graphs:
// finds its rows by bisection.
std::string LineMappingsJson(const Model& model, int32_t input, int32_t rank,
                             std::string_view graph);

}  // namespace debrief::outputs::tlparse_tree
