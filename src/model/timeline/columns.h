// The columns of the timeline tables by name, for code that carries whole rows in and out of other
// formats: a column that is added to a table is added here, and every such format has it.
//
//   VisitColumns(table, row, [&](std::string_view key, auto value) { ... });
//   VisitColumns(row, [&](std::string_view key, auto& value) { ... });
//
// Details of slices go by the names that PyTorch's profiler gives them in its args, where it has
// one; other columns by their own. Left out are the columns that say whose row it is, and those
// that are found out from the others (parent, depth, where a track's slices lie, ...).
#pragma once

#include <cstddef>
#include <string_view>

#include "tables/timeline.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_device.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_fact.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_group.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"
#include "tables/timeline_process.h"
#include "tables/timeline_track.h"

namespace debrief::timeline {

// clang-format off
#define DEBRIEF_TIMELINE_COLUMNS(X) \
  X(producer, "producer") X(base_ns, "base_ns") X(backend, "backend") \
  X(world_size, "world_size") X(has_shapes, "has_shapes") X(has_stacks, "has_stacks") \
  X(has_memory, "has_memory")
#define DEBRIEF_TIMELINE_DEVICE_COLUMNS(X) \
  X(device, "device") X(name, "name") X(memory_bytes, "memory_bytes") \
  X(multiprocessors, "multiprocessors") X(compute_capability, "compute_capability")
#define DEBRIEF_TIMELINE_GROUP_COLUMNS(X) \
  X(name, "name") X(description, "description") X(backend, "backend") X(members, "members")
#define DEBRIEF_TIMELINE_FACT_COLUMNS(X) X(key, "key") X(value, "value")
#define DEBRIEF_TIMELINE_PROCESS_COLUMNS(X) \
  X(process, "process") X(pid, "pid") X(name, "name") X(labels, "labels") \
  X(sort_index, "sort_index")
#define DEBRIEF_TIMELINE_TRACK_COLUMNS(X) \
  X(track, "track") X(process, "process") X(tid, "tid") X(name, "name") X(kind, "kind") \
  X(device, "device") X(stream, "stream") X(sort_index, "sort_index")
#define DEBRIEF_TIMELINE_FLOW_COLUMNS(X) \
  X(track, "track") X(name, "name") X(id, "id") X(phase, "phase")
#define DEBRIEF_TIMELINE_DEVICE_WORK_COLUMNS(X) \
  X(device, "device") X(stream, "stream") X(context, "context") X(bytes, "bytes") \
  X(blocks, "blocks") X(threads, "threads") X(registers, "registers per thread") \
  X(shared_bytes, "shared memory") X(occupancy_pct, "est. achieved occupancy %") \
  X(graph, "graph id") X(graph_node, "graph node id") X(wait_stream, "wait_on_stream") \
  X(wait_correlation, "wait_on_cuda_event_record_corr_id")
#define DEBRIEF_TIMELINE_OP_COLUMNS(X) \
  X(shapes, "Input Dims") X(dtypes, "Input type") X(sequence, "Sequence number") \
  X(forward_thread, "Fwd thread id") X(kernel_file, "kernel_file") \
  X(kernel_hash, "kernel_hash") X(module, "Module Hierarchy")
#define DEBRIEF_TIMELINE_COLLECTIVE_COLUMNS(X) \
  X(op, "Collective name") X(group_name, "Process Group Name") \
  X(group_desc, "Process Group Description") X(members, "Process Group Ranks") \
  X(group_size, "Group size") X(dtype, "dtype") X(in_elements, "In msg nelems") \
  X(out_elements, "Out msg nelems") X(in_split, "In split size") \
  X(out_split, "Out split size") X(peer, "Dst Rank") X(seq, "Seq") X(comms_id, "Comms Id")
#define DEBRIEF_TIMELINE_MEMORY_COLUMNS(X) \
  X(address, "Addr") X(bytes, "Bytes") X(allocated_bytes, "Total Allocated") \
  X(reserved_bytes, "Total Reserved") X(device_type, "Device Type") X(device, "Device Id")

#define DEBRIEF_VISIT_COLUMN_OF_TABLE(column, key) visit(std::string_view(key), table.column[row]);
#define DEBRIEF_VISIT_COLUMN_OF_ROW(column, key) visit(std::string_view(key), row.column);
#define DEBRIEF_VISIT_COLUMNS(Name, COLUMNS)                                  \
  template <typename Visit>                                                   \
  void VisitColumns(const Name##Table& table, size_t row, Visit&& visit) {    \
    COLUMNS(DEBRIEF_VISIT_COLUMN_OF_TABLE)                                    \
  }                                                                           \
  template <typename Visit>                                                   \
  void VisitColumns(Name##Row& row, Visit&& visit) {                          \
    COLUMNS(DEBRIEF_VISIT_COLUMN_OF_ROW)                                      \
  }

DEBRIEF_VISIT_COLUMNS(Timeline, DEBRIEF_TIMELINE_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineDevice, DEBRIEF_TIMELINE_DEVICE_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineGroup, DEBRIEF_TIMELINE_GROUP_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineFact, DEBRIEF_TIMELINE_FACT_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineProcess, DEBRIEF_TIMELINE_PROCESS_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineTrack, DEBRIEF_TIMELINE_TRACK_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineFlow, DEBRIEF_TIMELINE_FLOW_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineDeviceWork, DEBRIEF_TIMELINE_DEVICE_WORK_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineOp, DEBRIEF_TIMELINE_OP_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineCollective, DEBRIEF_TIMELINE_COLLECTIVE_COLUMNS)
DEBRIEF_VISIT_COLUMNS(TimelineMemory, DEBRIEF_TIMELINE_MEMORY_COLUMNS)
// clang-format on

#undef DEBRIEF_VISIT_COLUMNS
#undef DEBRIEF_VISIT_COLUMN_OF_ROW
#undef DEBRIEF_VISIT_COLUMN_OF_TABLE

// Names of the events in which a Perfetto trace of ours says what its format has no place for; one
// event is one row. Their category is kAboutCategory.
inline constexpr std::string_view kAboutCategory = "debrief";
inline constexpr std::string_view kAboutTimeline = "timeline";
inline constexpr std::string_view kAboutDevice = "device";
inline constexpr std::string_view kAboutGroup = "process group";
inline constexpr std::string_view kAboutFact = "fact";
inline constexpr std::string_view kAboutProcess = "process";
inline constexpr std::string_view kAboutTrack = "track";
inline constexpr std::string_view kAboutLane = "lane";      // one more row for the same track
inline constexpr std::string_view kAboutSeries = "series";  // of a counter
inline constexpr std::string_view kAboutFlow = "flow";

// Keys beside the columns.
inline constexpr std::string_view kUuidKey = "uuid";      // of Perfetto's track
inline constexpr std::string_view kSeriesKey = "series";  // of a counter
inline constexpr std::string_view kKindKey = "kind";      // of a slice, where the category misleads
inline constexpr std::string_view kCorrelationKey = "correlation";
inline constexpr std::string_view kExternalIdKey = "External id";
inline constexpr std::string_view kArgsKey = "args";  // of a slice: what has no column
// A row of details of which nothing is known.
inline constexpr std::string_view kWorkKey = "device work";
inline constexpr std::string_view kOpKey = "op";
inline constexpr std::string_view kCollectiveKey = "collective";

}  // namespace debrief::timeline
