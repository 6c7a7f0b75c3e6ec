#include "inputs/nccl_inspector/records.h"

#include <cmath>
#include <initializer_list>
#include <string>

#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "torch/glog_time.h"

namespace debrief::inputs::nccl_inspector {

namespace {

constexpr double kMostMicros = 1e12;  // eleven days

// As other inputs write it: without 0x.
std::string_view HashOf(std::string_view text) {
  return text.starts_with("0x") ? text.substr(2) : text;
}

int64_t MicrosToNs(std::optional<double> micros) {
  if (!micros || !(*micros >= 0) || *micros > kMostMicros) return kNone64;
  return std::llround(*micros * 1e3);
}

class RecordReader {
 public:
  RecordReader(const Identity& who, Pools& pools)
      : row_(Part::RowOf<NcclPerfRow>(who)), pools_(pools) {}

  Status Read(JsonValue root) {
    return root.ForEachField([&](std::string_view key, JsonValue value) -> Status {
      if (value.kind() != JsonKind::kObject) return {};
      if (key == "header") return ReadHeader(value);
      if (key == "metadata") return ReadMetadata(value);
      if (key == "coll_perf" || key == "p2p_perf") return ReadPerf(value);
      return {};
    });
  }

  bool about_op() const { return row_.op != StringId::kNone && row_.duration_ns != kNone64; }
  const NcclPerfRow& row() const { return row_; }

 private:
  StringId Text(JsonValue value) { return pools_.InternOrNone(value.String().value_or("")); }

  Status ReadHeader(JsonValue value) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "id") row_.comm = pools_.InternOrNone(HashOf(field.String().value_or("")));
      if (key == "comm_name") row_.comm_name = Text(field);
      if (key == "rank") row_.comm_rank = CountOrNone(field.Int());
      if (key == "n_ranks") row_.comm_size = CountOrNone(field.Int());
      if (key == "nnodes") row_.nodes = CountOrNone(field.Int());
    });
  }

  Status ReadMetadata(JsonValue value) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "dump_timestamp_us") row_.time_ns = UnixMicrosToNs(field.Int().value_or(0));
      if (key == "hostname") row_.host = Text(field);
      if (key == "pid") row_.pid = field.Int().value_or(kNone64);
    });
  }

  // Keys of both kinds are alike but for their beginning.
  Status ReadPerf(JsonValue value) {
    std::string algorithm, protocol;
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      const bool of_pair = key.starts_with("p2p");
      const size_t underscore = key.find('_');
      const std::string_view name =
          underscore == std::string_view::npos ? std::string_view() : key.substr(underscore + 1);
      if (key == "coll" || key == "p2p") row_.op = Text(field);
      if (name == "sn") row_.seq = field.Int().value_or(kNone64);
      if (of_pair && name == "peer") row_.peer = CountOrNone(field.Int());
      if (name == "msg_size_bytes") row_.bytes = field.Int().value_or(kNone64);
      if (name == "exec_time_us") row_.duration_ns = MicrosToNs(field.Double());
      if (name == "timing_source") row_.timed_by = Text(field);
      if (name == "algobw_gbs") row_.algorithm_gbs = field.Double().value_or(kNoDouble);
      if (name == "busbw_gbs") row_.bus_gbs = field.Double().value_or(kNoDouble);
      if (name == "algo") algorithm = field.String().value_or("");
      if (name == "proto") protocol = field.String().value_or("");
      if (key == "event_trace_ts" && field.kind() == JsonKind::kObject) return ReadTimes(field);
      return {};
    }));
    if (!algorithm.empty())
      row_.algorithm = pools_.Intern(protocol.empty() ? algorithm : algorithm + "_" + protocol);
    return {};
  }

  Status ReadTimes(JsonValue value) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key.ends_with("_start_ts")) row_.start_ns = UnixMicrosToNs(field.Int().value_or(0));
      if (key.ends_with("_stop_ts")) row_.end_ns = UnixMicrosToNs(field.Int().value_or(0));
    });
  }

  NcclPerfRow row_;
  Pools& pools_;
};

// Older and newer versions name the same label differently.
std::string_view AnyLabel(const MetricLine& line, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys) {
    if (const std::string_view value = line.Label(key); !value.empty()) return value;
  }
  return {};
}

void FillLabels(const MetricLine& line, NcclPerfRow& row, Pools& pools) {
  auto number = [](std::string_view text) { return CountOrNone(ParseNumber<int64_t>(text)); };
  row.comm = pools.InternOrNone(HashOf(line.Label("comm_id")));
  const std::string_view name = line.Label("comm_name");
  row.comm_name = pools.InternOrNone(name == "unknown" ? "" : name);
  row.comm_rank = number(line.Label("rank"));
  row.comm_size = number(AnyLabel(line, {"nranks", "n_ranks"}));
  row.nodes = number(line.Label("n_nodes"));
  row.host = pools.InternOrNone(AnyLabel(line, {"node", "hostname"}));
  row.pid = ParseNumber<int64_t>(line.Label("pid")).value_or(kNone64);
  std::string_view gpu = AnyLabel(line, {"gpu", "gpu_device_id"});
  if (gpu.starts_with("GPU")) gpu.remove_prefix(3);
  row.gpu = number(gpu);
  row.op = pools.InternOrNone(AnyLabel(line, {"collective", "p2p_operation"}));
  row.algorithm = pools.InternOrNone(line.Label("algo_proto"));
  row.seq = ParseNumber<int64_t>(line.Label("coll_sn")).value_or(kNone64);
  row.message_size = pools.InternOrNone(line.Label("message_size"));
  row.timed_by = pools.InternOrNone(AnyLabel(line, {"coll_timing_source", "timing_source"}));
  if (const std::string_view time = line.Label("timestamp"); !time.empty())
    row.time_ns = ParseIsoTime(time);
}

}  // namespace

Result<std::optional<NcclPerfRow>> ReadRecord(JsonValue root, const Identity& who, Pools& pools) {
  RecordReader reader(who, pools);
  TRY(reader.Read(root));
  return reader.about_op() ? std::optional(reader.row()) : std::optional<NcclPerfRow>();
}

std::string KeyOfMetric(const MetricLine& line) {
  std::string key;
  for (const auto& [label, value] : line.labels) {
    key += value;
    key += '\n';
  }
  return key;
}

bool FillFromMetric(const MetricLine& line, NcclPerfRow& row, Pools& pools) {
  if (AnyLabel(line, {"collective", "p2p_operation"}).empty()) return false;
  FillLabels(line, row, pools);
  const std::string_view name = line.name;
  if (name.ends_with("bus_bandwidth_gbs")) row.bus_gbs = line.value;
  if (name.ends_with("algorithm_bandwidth_gbs") || name.ends_with("algobw_gbs"))
    row.algorithm_gbs = line.value;
  if (name.ends_with("exec_time_microseconds") || name.ends_with("exec_time_p50_microseconds"))
    row.duration_ns = MicrosToNs(line.value);
  return true;
}

}  // namespace debrief::inputs::nccl_inspector
