// Timelines in and out of models, for the tests of outputs that show them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "base/threads/thread_pool.h"
#include "inputs/import.h"
#include "inputs/importer.h"
#include "model/model.h"
#include "outputs/output.h"
#include "outputs/table_cell.h"

namespace debrief::testing {

// One of everything: threads, partial overlaps on a thread and on a stream, nesting, a launch with
// two pieces of work, chains, counters, memory, arrows, a group, a device.
inline constexpr std::string_view kTimelineJson = R"({"schemaVersion": 1,
"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2,
  "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [0, 1]}]},
"deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 1000, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
"record_shapes": 1, "baseTimeNanoseconds": 1700000000000000000, "note": "a \"quoted\" text", "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 11, "tid": 0, "ts": 0, "args": {"name": "python"}},
{"ph": "M", "name": "process_sort_index", "pid": 11, "tid": 0, "ts": 0, "args": {"sort_index": 5}},
{"ph": "M", "name": "thread_name", "pid": 11, "tid": 12, "ts": 0, "args": {"name": "main; thread"}},
{"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 11, "tid": 12, "ts": 10.001, "dur": 20.5,
 "args": {"External id": 5, "Input Dims": [[4, 4], [4, 4]], "Input type": ["float", "float"], "Sequence number": 3}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 11, "tid": 12, "ts": 12, "dur": 3, "args": {"External id": 5, "correlation": 9}},
{"ph": "X", "cat": "python_function", "name": "train.py(3): step", "pid": 11, "tid": 12, "ts": 1, "dur": 40},
{"ph": "X", "cat": "cpu_op", "name": "overlaps", "pid": 11, "tid": 12, "ts": 25, "dur": 30},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 10.123,
 "args": {"External id": 5, "correlation": 9, "device": 0, "stream": 7, "context": 1, "grid": [2, 3, 1], "block": [32, 1, 1], "est. achieved occupancy %": 37.5}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 25, "dur": 10, "args": {"correlation": 9, "device": 0, "stream": 7}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 25, "dur": 10, "args": {"correlation": 10, "device": 0, "stream": 7, "bytes": 4096}},
{"ph": "X", "cat": "kernel", "name": "nccl", "pid": 0, "tid": 8, "ts": 40, "dur": 0,
 "args": {"device": 0, "stream": 8, "Collective name": "allreduce", "Process Group Name": "0", "Process Group Ranks": "[1, 0]", "Group size": 2, "dtype": "Float", "In msg nelems": 16, "Out msg nelems": 16, "Seq": 4}},
{"ph": "X", "cat": "mine", "name": "other program", "pid": "Spans", "tid": "top", "ts": 2, "dur": 1},
{"ph": "b", "cat": "chain", "name": "request", "id": 1, "pid": 11, "tid": 12, "ts": 3},
{"ph": "b", "cat": "chain", "name": "request", "id": 2, "pid": 11, "tid": 12, "ts": 4},
{"ph": "e", "cat": "chain", "name": "request", "id": 1, "pid": 11, "tid": 12, "ts": 9},
{"ph": "e", "cat": "chain", "name": "request", "id": 2, "pid": 11, "tid": 12, "ts": 11},
{"ph": "i", "s": "t", "cat": "x", "name": "mark", "pid": 11, "tid": 12, "ts": 26},
{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 11, "tid": 12, "ts": 13, "args": {"Addr": 77, "Bytes": -512, "Total Allocated": 1024, "Total Reserved": 2048, "Device Type": 1, "Device Id": 0}},
{"ph": "C", "name": "load", "pid": 0, "tid": 0, "ts": 5, "args": {"sm": 0.1, "memory": 3}},
{"ph": "C", "name": "load", "pid": 0, "tid": 0, "ts": 6, "args": {"sm": 0.25, "memory": 4}},
{"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 3, "pid": 11, "tid": 12, "ts": 10.001},
{"ph": "f", "bp": "e", "cat": "fwdbwd", "name": "fwdbwd", "id": 3, "pid": 11, "tid": 12, "ts": 26}
]})";

// Adds what the importer makes of the bytes to the model, as input `input` of that rank.
inline void ImportInto(Model& model, std::string_view importer_name, std::string bytes,
                       int32_t input = 0, int32_t rank = 1, bool keeps_args = false) {
  ThreadPool pool(1);
  for (const Importer* importer : AllImporters()) {
    if (importer->info.name != importer_name) continue;
    const auto source = MakeMemorySource(std::move(bytes));
    const auto reader =
        importer->open({.who = {.input = input, .job = 0, .attempt = 0, .rank = rank},
                        .path = "x",
                        .keeps_args = keeps_args});
    Part part;
    EXPECT_TRUE(ImportSource(*reader, *source, pool, part).ok());
    model.Append(std::move(part));
    return;
  }
  ADD_FAILURE() << "no importer " << importer_name;
}

// What the output writes into its file.
inline std::string WriteWith(std::string_view output_name, const Model& model,
                             std::string_view frames = {}) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("debrief_" + std::to_string(getpid()) + "_" + std::string(output_name));
  for (const Output* output : AllOutputs()) {
    if (output->info.name != output_name) continue;
    OutputContext context;
    context.file = path;
    context.frames = frames;
    EXPECT_TRUE(output->write(model, context).ok());
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

inline std::string CellText(const Pools& pools, const Table& table, size_t column, size_t row) {
  const Cell cell = ReadCell(pools, table, column, row);
  std::ostringstream text;
  text.precision(17);
  switch (cell.kind) {
    case Cell::kNull:
      return "null";
    case Cell::kText:
      return "'" + cell.text + "'";
    case Cell::kReal:
      text << cell.real;
      break;
    case Cell::kInteger:
    case Cell::kFlag:
      text << cell.integer;
      break;
  }
  return text.str();
}

// All rows of the timeline tables as text, but for columns that say where in which file something
// was, and counts of events of a file.
inline std::string TimelineText(const Part& part) {
  const std::set<std::string_view> passed_over = {"input",  "args_offset", "args_bytes",
                                                  "events", "lost",        "repeated_flows"};
  std::string text;
  for (TableId id = 0; id < AllTables().size(); ++id) {
    const Table* table = part.tables.Find(id);
    if (table == nullptr || !table->info().name.starts_with("timeline")) continue;
    for (size_t row = 0; row < table->size(); ++row) {
      text += table->info().name;
      for (size_t column = 0; column < table->info().columns.size(); ++column) {
        const std::string_view name = table->info().columns[column].name;
        if (passed_over.contains(name)) continue;
        text += " " + std::string(name) + "=" + CellText(part.pools, *table, column, row);
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace debrief::testing
