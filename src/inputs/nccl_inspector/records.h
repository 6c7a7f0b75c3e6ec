// Records of NCCL Inspector -> rows of nccl_perf.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/cursor.h"
#include "inputs/records/prometheus_text.h"
#include "model/model.h"
#include "tables/nccl_perf.h"

namespace debrief::inputs::nccl_inspector {

// One JSON object: {"header":{...},"metadata":{...},"coll_perf":{...}}. Nothing when it is about no
// operation (dump_stats); a Status when the JSON is broken.
Result<std::optional<NcclPerfRow>> ReadRecord(JsonValue root, const Identity& who, Pools& pools);

// nccl_bus_bandwidth_gbs{...} 678.2: the value goes into the row of its labels. False for metrics
// that are about no operation.
bool FillFromMetric(const MetricLine& line, NcclPerfRow& row, Pools& pools);

// What of a metric line tells the row that it belongs to.
std::string KeyOfMetric(const MetricLine& line);

}  // namespace debrief::inputs::nccl_inspector
