// The answers for programs: CSV, and JSON with keys in alphabetical order, times in nanoseconds,
// null for what is not known.
#include <fmt/format.h>

#include "base/json/writer.h"
#include "base/text/escape.h"
#include "op_trace/reference.h"
#include "outputs/terminal/op_answers/answers.h"

namespace debrief::outputs::op_answers {

namespace {

void WriteCommunication(const OpAnswers& answers, JsonWriter& json) {
  json.Key("communication").BeginObject();
  json.Field("duration_ns", answers.communication_ns);
  json.Field("of_op_time", answers.communication_of_op_time);
  json.Field("of_wall_time", answers.communication_of_wall);
  json.Objects("ops", answers.communication, [&](const op_trace::CommunicationShare& share) {
    json.Field("count", share.count).Field("duration_ns", share.duration_ns);
    json.Field("of_op_time", share.of_op_time).Field("operation", share.operation);
  });
  json.EndObject();
}

void WriteDevices(const OpAnswers& answers, JsonWriter& json) {
  json.Objects("devices", answers.devices, [&](const op_trace::DeviceSummary& device) {
    json.Field("busy_ns", answers.has_busy ? std::optional(device.busy_ns) : std::nullopt);
    json.Field("bytes", device.bytes).Field("count", device.count);
    json.Field("device", device.device).Field("duration_ns", device.duration_ns);
  });
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
  json.Objects(key, ops, [&](const ListedOp& op) {
    json.Field("bytes", op.bytes).Field("device", op.device).Field("duration_ns", op.duration_ns);
    json.Field("operation", op.operation).Field("rank", op.rank).Field("self_ns", op.self_ns);
    json.Field("step", op.step).Field("thread", op.thread);
  });
}

void WriteLosses(const OpAnswers& answers, JsonWriter& json) {
  json.Objects("losses", answers.losses, [&](const Losses& lost) {
    json.Field("dropped", lost.dropped).Field("from_ns", lost.from_ns).Field("names", lost.names);
    json.Field("overwritten", lost.overwritten).Field("path", lost.path);
    json.Field("rank", lost.rank).Field("to_ns", lost.to_ns);
  });
}

void WriteMetadata(const OpAnswers& answers, JsonWriter& json) {
  json.Key("metadata").BeginObject();
  for (const auto& [key, value] : answers.metadata) json.Field(key, value);
  json.EndObject();
}

void WriteOpen(const OpAnswers& answers, JsonWriter& json) {
  json.Objects("open", answers.open, [&](const OpenOps& open) {
    json.Field("closed", open.closed).Field("copied", open.copied);
    json.ListField("open_for_ns", open.open_for_ns);
    json.Array("operations", open.operations, [&](const std::string& name) { json.Value(name); });
    json.Field("pid", open.pid).Field("rank", open.rank).Field("thread", open.thread);
  });
}

void WriteOps(const OpAnswers& answers, JsonWriter& json) {
  json.Objects("ops", answers.ops, [&](const op_trace::OpSummary& op) {
    json.Field("bytes", op.bytes).Field("count", op.count);
    json.Field("duration_ns", op.duration_ns).Field("longest_ns", op.longest_ns);
    json.Field("mean_ns", op.mean_ns).Field("operation", op.operation);
    json.Field("p50_ns", op.p50_ns).Field("p99_ns", op.p99_ns).Field("self_ns", op.self_ns);
  });
}

void WriteTotals(const OpAnswers& answers, JsonWriter& json) {
  json.Key("totals").BeginObject().Field("bytes", answers.bytes);
  json.Field("bytes_assumed", answers.bytes_assumed).Field("count", answers.count);
  json.Field("inputs", answers.inputs).Field("largest_bytes", answers.largest_bytes);
  json.Field("live_peak_bytes", answers.live_peak_bytes).Field("op_time_ns", answers.op_time_ns);
  json.ListField("ranks", answers.ranks).Field("wall_ns", answers.wall_ns);
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
  WriteMetadata(answers, json);
  WriteOpen(answers, json);
  WriteOps(answers, json);
  WriteList("slowest", answers.slowest, json);
  WriteTotals(answers, json);
  json.EndObject();
  out.Write(text + "\n");
}

// Ops by name: all rows, exact.
void WriteCsv(const OpAnswers& answers, TextSink& out) {
  out.Write("operation,count,duration_ns,self_ns,mean_ns,p50_ns,p99_ns,longest_ns,bytes\n");
  std::string line;
  for (const op_trace::OpSummary& op : answers.ops) {
    line.clear();
    AppendCsv(line, op.operation);
    line += fmt::format(",{},{},{},{},{},{},{},{}\n", op.count, op.duration_ns, op.self_ns,
                        op.mean_ns, op.p50_ns, op.p99_ns, op.longest_ns, op.bytes);
    out.Write(line);
  }
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
