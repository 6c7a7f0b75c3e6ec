// Summaries as JSON.
//
//   [{"bytes": 600, "count": 2, "duration_ns": 300000, ..., "operation": "matmul", ...},
//    ...]
#include "debrief/op_trace.hpp"
#include "op_trace/json_text.h"

namespace debrief::op_trace {
namespace {

// One object, its keys in the order in which they are given.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  JsonObject& Text(std::string_view key, std::string_view text) {
    Key(key);
    AppendQuoted(out_, text);
    return *this;
  }
  template <typename Number>
  JsonObject& Add(std::string_view key, Number number) {
    Key(key);
    if constexpr (std::is_same_v<Number, double>) {
      AppendDouble(out_, number);
    } else {
      out_ += std::to_string(number);
    }
    return *this;
  }
  void Key(std::string_view key) {
    if (out_.back() != '{') out_ += ", ";
    AppendQuoted(out_, key);
    out_ += ": ";
  }

 private:
  std::string& out_;
};

template <typename Row, typename Write>
std::string ArrayOf(std::span<const Row> rows, Write write) {
  std::string out = "[";
  for (const Row& row : rows) {
    if (&row != rows.data()) out += ",\n";
    JsonObject object(out);
    write(row, object);
  }
  return out + "]\n";
}

}  // namespace

std::string ToJson(std::span<const OpSummary> ops) {
  return ArrayOf(ops, [](const OpSummary& op, JsonObject& json) {
    json.Add("bytes", op.bytes).Add("count", op.count).Add("duration_ns", op.duration_ns);
    json.Add("longest_ns", op.longest_ns).Add("mean_ns", op.mean_ns);
    json.Text("operation", op.operation).Add("p50_ns", op.p50_ns).Add("p99_ns", op.p99_ns);
    json.Add("self_ns", op.self_ns);
  });
}

std::string ToJson(std::span<const DeviceSummary> devices) {
  return ArrayOf(devices, [](const DeviceSummary& device, JsonObject& json) {
    json.Add("busy_ns", device.busy_ns).Add("bytes", device.bytes).Add("count", device.count);
    json.Text("device", device.device).Add("duration_ns", device.duration_ns);
  });
}

std::string ToJson(std::span<const CommunicationShare> shares) {
  return ArrayOf(shares, [](const CommunicationShare& share, JsonObject& json) {
    json.Add("count", share.count).Add("duration_ns", share.duration_ns);
    json.Add("of_op_time", share.of_op_time).Text("operation", share.operation);
  });
}

std::string ToJson(const std::optional<LoadBalance>& balance) {
  if (!balance) return "null\n";
  std::string out;
  {
    JsonObject json(out);
    json.Key("devices");
    out += ArrayOf(std::span<const std::pair<std::string, int64_t>>(balance->devices),
                   [](const auto& device, JsonObject& row) {
                     row.Text("device", device.first).Add("duration_ns", device.second);
                   });
    out.pop_back();
    json.Add("ideal_ns", balance->ideal_ns).Add("imbalance", balance->imbalance);
    json.Add("max_ns", balance->max_ns).Add("total_ns", balance->total_ns);
  }
  return out + "\n";
}

}  // namespace debrief::op_trace
