// The args of an event that have columns of their own. The rest stays in the file, by reference.
//
//   "args": {"External id": 330, "correlation": 1317, "stream": 7, "grid": [1024, 1, 1], ...}
//
// Texts are views into the parsed batch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json/cursor.h"
#include "base/pools/ids.h"

namespace debrief::trace_events {

struct Args {
  int64_t external_id = kNone64;
  int64_t correlation = kNone64;

  // Of work on a device. `has_work`: any of them was there.
  bool has_work = false;
  int64_t device = kNone64, stream = kNone64, context = kNone64, bytes = kNone64;
  int64_t registers = kNone64, shared_bytes = kNone64;
  std::string_view grid, block;  // lists of sizes, as they stand
  double occupancy_pct = kNoDouble;
  int64_t graph = kNone64, graph_node = kNone64;
  int64_t wait_stream = kNone64, wait_correlation = kNone64;

  // Of an op.
  bool has_op = false;
  std::string_view shapes, dtypes, kernel_file, kernel_hash, module, concrete, strides;
  int64_t sequence = kNone64, forward_thread = kNone64, record_function = kNone64;

  // Of a collective.
  bool has_collective = false;
  std::string_view collective, group_name, group_desc, group_ranks, dtype, in_split, out_split,
      comms_id;
  int64_t group_size = kNone64, in_elements = kNone64, out_elements = kNone64, peer = kNone64,
          seq = kNone64;

  // Of a [memory] event.
  int64_t address = kNone64, allocated_bytes = kNone64, reserved_bytes = kNone64,
          device_type = kNone64, memory_device = kNone64, memory_bytes = kNone64;

  // Of work on an AIU: readings of its cycle counter, and what stands beside them. The number of
  // bytes goes by the same key as that of a [memory] event.
  bool has_stamps = false;
  std::array<int64_t, 5> stamps = {kNone64, kNone64, kNone64, kNone64, kNone64};  // TS1..TS5
  int64_t power = kNone64;
  std::string_view coll_group, peers, transfer_type;

  // Of an op of a pipeline stage. `has_stage`: it names its part of the model.
  bool has_stage = false;
  int64_t step = kNone64, chunk = kNone64, microbatch = kNone64, op_seq = kNone64;

  // Of metadata: args.name, args.labels, args.sort_index.
  std::string_view name, labels;
  int64_t sort_index = kNone64;
};

// Reads the field `key` of the args (or attr, as AIU runtimes call them); a field that has no
// column is left alone.
void ReadArg(std::string_view key, JsonValue value, Args& args);

// The product of "[8, 4, 1]"; null of no text, 0 when there is something else than whole numbers in
// it, or too many.
int64_t ProductOf(std::string_view list);

// "[6, 7]" as numbers; what is none is left out.
std::vector<int64_t> NumbersIn(std::string_view text);

}  // namespace debrief::trace_events
