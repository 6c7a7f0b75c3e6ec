// Output "chrome": the timelines of a run as Trace Event JSON, for chrome://tracing,
// ui.perfetto.dev, speedscope and whatever reads the traces of PyTorch's profiler.
//
// About 200 bytes for each slice, streamed.
#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/json/writer.h"
#include "base/version.h"
#include "outputs/exports/chrome/timeline_events.h"
#include "outputs/output.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"
#include "tables/timeline_group.h"

namespace debrief::outputs::chrome {

namespace {

constexpr std::string_view kFile = "timeline.json";

// The earliest base, so that times are small enough for viewers that have them as doubles.
int64_t BaseOf(const Model& model) {
  const auto& bases = model.tables.Get<TimelineTable>().base_ns;
  return bases.empty() ? kNone64 : *std::min_element(bases.begin(), bases.end());
}

void WriteDevices(const Model& model, JsonWriter& json) {
  const auto& devices = model.tables.Get<TimelineDeviceTable>();
  json.Key("deviceProperties").BeginArray();
  for (size_t row = 0; row < devices.size(); ++row) {
    json.BeginObject().Field("id", devices.device[row]);
    json.Field("name", model.pools.Text(devices.name[row]));
    if (devices.memory_bytes[row] != kNone64)
      json.Field("totalGlobalMem", devices.memory_bytes[row]);
    if (devices.multiprocessors[row] != kNone32) json.Field("numSms", devices.multiprocessors[row]);
    const std::string_view capability = model.pools.Text(devices.compute_capability[row]);
    if (const size_t dot = capability.find('.'); dot != std::string_view::npos) {
      json.Field("computeMajor", std::atoi(std::string(capability.substr(0, dot)).c_str()));
      json.Field("computeMinor", std::atoi(std::string(capability.substr(dot + 1)).c_str()));
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteDistributed(const Model& model, const timeline::TimelineView& view, JsonWriter& json) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  const auto& groups = model.tables.Get<TimelineGroupTable>();
  json.Key("distributedInfo").BeginObject();
  json.Field("backend", model.pools.Text(timelines.backend[view.row]));
  json.Field("rank", view.who.rank).Field("world_size", timelines.world_size[view.row]);
  json.Objects("pg_config", std::views::iota(size_t{0}, groups.size()), [&](size_t row) {
    json.Field("pg_name", model.pools.Text(groups.name[row]));
    json.Field("pg_desc", model.pools.Text(groups.description[row]));
    json.Field("backend_config", model.pools.Text(groups.backend[row]));
    json.ListField("ranks", model.pools.lists.Get(groups.members[row]));
  });
  json.EndObject();
}

// What a single timeline says about itself; of several it would be of one of them.
void WriteFacts(const Model& model, const timeline::TimelineView& view, JsonWriter& json) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  const std::string_view producer = model.pools.Text(timelines.producer[view.row]);
  if (producer == "kineto") json.Field("schemaVersion", 1);
  json.Field("record_shapes", int{timelines.has_shapes[view.row]});
  json.Field("with_stack", int{timelines.has_stacks[view.row]});
  json.Field("profile_memory", int{timelines.has_memory[view.row]});
  // Flex names no devices; those of its timeline were found out, and would make it one of PyTorch.
  if (producer != "flex" && model.tables.Get<TimelineDeviceTable>().size() > 0)
    WriteDevices(model, json);
  if (timelines.world_size[view.row] != kNone32) WriteDistributed(model, view, json);
}

// Everything before the events; the object stays open.
std::string Head(const Model& model, const std::vector<MergedTimeline>& merged, int64_t base_ns) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Field("exporter", fmt::format("debrief {}", kVersion));
  json.Field("displayTimeUnit", "ms");
  if (base_ns != kNone64) json.Field("baseTimeNanoseconds", base_ns);
  if (merged.size() == 1) WriteFacts(model, merged.front().view, json);
  return text + ", \"traceEvents\": [";
}

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  const std::vector<MergedTimeline> merged = MergeTimelines(model);
  const int64_t base_ns = BaseOf(model);
  TRY(file.Append(Head(model, merged, base_ns)));
  EventFile events(file);
  NumberGiver pids;
  for (const MergedTimeline& timeline : merged)
    TRY(WriteTimelineEvents(timeline, base_ns == kNone64 ? 0 : base_ns, pids, events));
  TRY(file.Append("\n]}\n"));
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"chrome", "the timelines of the run on one clock as Chrome Trace Event JSON", kFile,
       kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::chrome
