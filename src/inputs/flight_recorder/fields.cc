#include "inputs/flight_recorder/fields.h"

#include <array>

namespace debrief::inputs::flight_recorder {

namespace {

// In the order of Field.
constexpr std::array<std::string_view, static_cast<size_t>(Field::kCount)> kNames = {
    "",
    "frames",
    "record_id",
    "pg_id",
    "process_group",
    "process_group_name",
    "collective_seq_id",
    "seq_id",
    "p2p_seq_id",
    "op_id",
    "is_p2p",
    "profiling_name",
    "time_created_ns",
    "time_created_us",
    "duration_ms",
    "input_sizes",
    "output_sizes",
    "input_dtypes",
    "output_dtypes",
    "state",
    "time_discovered_started_ns",
    "time_discovered_completed_ns",
    "retired",
    "timeout_ms",
    "thread_id",
    "thread_name",
    "name",
    "filename",
    "line",
    "desc",
    "ranks",
    "last_enqueued_collective",
    "last_started_collective",
    "last_completed_collective",
    "version",
    "entries",
    "pg_config",
    "pg_status",
    "nccl_version",
    "comm_lib_version",
    "nccl_comm_state",
};

}  // namespace

Field FieldOf(std::string_view key) {
  for (size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] == key) return static_cast<Field>(i);
  }
  return Field::kOther;
}

}  // namespace debrief::inputs::flight_recorder
