// The answers as JSON: keys in alphabetical order, times in nanoseconds, null for what is not
// known.
#include "base/json/writer.h"
#include "op_trace/trace_json.h"
#include "outputs/terminal/op_answers/answers.h"
#include "outputs/terminal/op_answers/compat_trace.h"

namespace debrief::outputs::op_answers {

namespace {

template <typename T>
void OptionalField(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  json.Key(key);
  if (value) {
    json.Value(*value);
  } else {
    json.Null();
  }
}

void TextField(JsonWriter& json, std::string_view key, const std::optional<std::string>& text) {
  json.Key(key);
  if (text) {
    json.Value(std::string_view(*text));
  } else {
    json.Null();
  }
}

void WriteCommunication(const OpAnswers& answers, JsonWriter& json) {
  json.Key("communication").BeginObject();
  json.Field("duration_ns", answers.communication_ns);
  json.Field("of_op_time", answers.communication_of_op_time);
  OptionalField(json, "of_wall_time", answers.communication_of_wall);
  json.Key("ops").BeginArray();
  for (const op_trace::CommunicationShare& share : answers.communication) {
    json.BeginObject().Field("count", share.count).Field("duration_ns", share.duration_ns);
    json.Field("of_op_time", share.of_op_time).Field("operation", share.operation).EndObject();
  }
  json.EndArray().EndObject();
}

void WriteDevices(const OpAnswers& answers, JsonWriter& json) {
  json.Key("devices").BeginArray();
  for (const op_trace::DeviceSummary& device : answers.devices) {
    json.BeginObject();
    OptionalField(json, "busy_ns", answers.has_busy ? std::optional(device.busy_ns) : std::nullopt);
    json.Field("bytes", device.bytes).Field("count", device.count);
    json.Field("device", device.device).Field("duration_ns", device.duration_ns).EndObject();
  }
  json.EndArray();
}

void WriteBalance(const OpAnswers& answers, JsonWriter& json) {
  json.Key("balance");
  if (!answers.balance) return void(json.Null());
  const op_trace::LoadBalance& balance = *answers.balance;
  json.BeginObject().Field("devices", balance.devices.size()).Field("ideal_ns", balance.ideal_ns);
  json.Field("imbalance", balance.imbalance).Field("max_ns", balance.max_ns);
  json.Field("total_ns", balance.total_ns).EndObject();
}

void WriteList(std::string_view key, const std::vector<ListedOp>& ops, JsonWriter& json) {
  json.Key(key).BeginArray();
  for (const ListedOp& op : ops) {
    json.BeginObject().Field("bytes", op.bytes);
    TextField(json, "device", op.device);
    OptionalField(json, "duration_ns", op.duration_ns);
    json.Field("operation", op.operation);
    OptionalField(json, "rank", op.rank);
    json.Field("self_ns", op.self_ns).Field("step", op.step);
    OptionalField(json, "thread", op.thread);
    json.EndObject();
  }
  json.EndArray();
}

void WriteLosses(const OpAnswers& answers, JsonWriter& json) {
  json.Key("losses").BeginArray();
  for (const Losses& lost : answers.losses) {
    json.BeginObject().Field("dropped", lost.dropped);
    OptionalField(json, "from_ns", lost.from_ns);
    json.Field("names", lost.names).Field("overwritten", lost.overwritten);
    json.Field("path", lost.path);
    OptionalField(json, "rank", lost.rank);
    OptionalField(json, "to_ns", lost.to_ns);
    json.EndObject();
  }
  json.EndArray();
}

void WriteOpen(const OpAnswers& answers, JsonWriter& json) {
  json.Key("open").BeginArray();
  for (const OpenOps& open : answers.open) {
    json.BeginObject().Field("closed", open.closed);
    json.ListField("open_for_ns", open.open_for_ns);
    json.Key("operations").BeginArray();
    for (const std::string& operation : open.operations) json.Value(std::string_view(operation));
    json.EndArray().Field("pid", open.pid);
    OptionalField(json, "rank", open.rank);
    json.Field("thread", open.thread).EndObject();
  }
  json.EndArray();
}

void WriteOps(const OpAnswers& answers, JsonWriter& json) {
  json.Key("ops").BeginArray();
  for (const op_trace::OpSummary& op : answers.ops) {
    json.BeginObject().Field("bytes", op.bytes).Field("count", op.count);
    json.Field("duration_ns", op.duration_ns).Field("longest_ns", op.longest_ns);
    json.Field("mean_ns", op.mean_ns).Field("operation", op.operation);
    json.Field("p50_ns", op.p50_ns).Field("p99_ns", op.p99_ns).Field("self_ns", op.self_ns);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTotals(const OpAnswers& answers, JsonWriter& json) {
  json.Key("totals").BeginObject().Field("bytes", answers.bytes);
  json.Field("bytes_assumed", answers.bytes_assumed).Field("count", answers.count);
  json.Field("inputs", answers.inputs).Field("largest_bytes", answers.largest_bytes);
  OptionalField(json, "live_peak_bytes", answers.live_peak_bytes);
  json.Field("op_time_ns", answers.op_time_ns).ListField("ranks", answers.ranks);
  OptionalField(json, "wall_ns", answers.wall_ns);
  json.Field("without_device", answers.without_device);
  json.Field("without_duration", answers.without_duration).EndObject();
}

}  // namespace

void WriteJson(const OpAnswers& answers, TextSink& out) {
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject();
  WriteBalance(answers, json);
  WriteCommunication(answers, json);
  WriteDevices(answers, json);
  WriteList("hot_spots", answers.hot_spots, json);
  WriteLosses(answers, json);
  WriteOpen(answers, json);
  WriteOps(answers, json);
  WriteList("slowest", answers.slowest, json);
  WriteTotals(answers, json);
  json.EndObject();
  out.Write(text + "\n");
}

void WriteCompatJson(const Model& model, TextSink& out) {
  std::string text;
  op_trace::CompatJson json(text);
  for (const op_trace::Entry& entry : CompatEntries(model)) {
    json.Add(entry);
    out.Write(text);
    text.clear();
  }
  json.Finish(MetadataOf(model));
  out.Write(text);
}

}  // namespace debrief::outputs::op_answers
