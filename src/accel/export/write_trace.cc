#include "accel/export/write_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "accel/export/python_json.h"
#include "accel/export/settings.h"
#include "base/bytes/output_file.h"

namespace debrief::accel {

namespace {

constexpr size_t kBlockEvents = 1024;
constexpr size_t kTypicalEventBytes = 1024;

// What stands around the events of a file.
struct Frame {
  std::vector<DeviceEntry> devices;
  std::string trace_name;
  std::string time_unit;
  std::string other_data;
  JsonMembers members;  // of the inputs; they win over the fields above
};

const std::string* MemberOf(const Frame& frame, std::string_view key) {
  for (const auto& [name, value] : frame.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

void AppendDevices(PythonJson& json, const std::vector<DeviceEntry>& devices) {
  json.Key("deviceProperties");
  json.Open('[');
  for (const DeviceEntry& device : devices) {
    json.Element();
    json.Open('{');
    for (const auto& [key, value] : device.members) {
      json.Key(key);
      json.Rewrite(value);
    }
    json.Close('}');
  }
  json.Close(']');
}

void AppendField(PythonJson& json, const Frame& frame, std::string_view key,
                 std::string_view text) {
  json.Key(key);
  if (const std::string* given = MemberOf(frame, key)) return json.Rewrite(*given);
  json.Text(text);
}

// The text before and after the events.
struct FrameText {
  std::string before, after;
};

FrameText TextOf(const Frame& frame, bool has_events) {
  FrameText text;
  PythonJson json(text.before, 0);
  json.Open('{');
  AppendDevices(json, frame.devices);
  AppendField(json, frame, "traceName", frame.trace_name);
  json.Key("traceEvents");
  text.before += '[';
  text.after = has_events ? "\n    ],\n    " : "],\n    ";
  std::string fields;  // those behind the list; the first comma is in `after`
  PythonJson rest(fields, 1);
  AppendField(rest, frame, "displayTimeUnit", frame.time_unit);
  rest.Key("otherData");
  fields += frame.other_data;
  for (const auto& [key, value] : frame.members) {
    if (key == "traceName" || key == "displayTimeUnit") continue;
    rest.Key(key);
    rest.Rewrite(value);
  }
  rest.Close('}');
  text.after += fields.substr(fields.find('"'));
  return text;
}

Status WriteFile(const std::string& path, std::span<const Event* const> events, const Frame& frame,
                 Run& run, void (*append)(std::string&, const Event&, const Run&, int)) {
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  const FrameText text = TextOf(frame, !events.empty());
  TRY(file.Append(text.before));
  Status status;
  run.threads.MapInOrder<std::string>((events.size() + kBlockEvents - 1) / kBlockEvents,
                                      [&](size_t block) {
                                        std::string out;
                                        out.reserve(kBlockEvents * kTypicalEventBytes);
                                        const size_t end =
                                            std::min(events.size(), (block + 1) * kBlockEvents);
                                        for (size_t i = block * kBlockEvents; i < end; ++i) {
                                          out += i == 0 ? "\n        " : ",\n        ";
                                          append(out, *events[i], run, 2);
                                        }
                                        return out;
                                      },
                                      [&](size_t, std::string&& block) {
                                        if (status.ok()) status = file.Append(block);
                                      });
  TRY(std::move(status));
  TRY(file.Append(text.after));
  return file.Finish();
}

std::vector<const Event*> Pointers(const EventList& events) {
  std::vector<const Event*> pointers;
  pointers.reserve(events.size());
  for (const Event& event : events) pointers.push_back(&event);
  return pointers;
}

DeviceEntry AiuDevice(int64_t rank) {
  return {{{"id", std::to_string(rank)},
           {"type", "\"AIU\""},
           {"name", "\"AIU\""},
           {"core", "\"PT Array\""}}};
}

// Flex says nothing about its devices: one for each rank that has device events.
std::vector<DeviceEntry> DevicesOf(const EventList& events, const Metadata& metadata,
                                   const Run& run) {
  std::vector<DeviceEntry> devices = metadata.devices;
  if (run.options.compat) return devices;
  std::set<int64_t> ranks;
  for (const Event& event : events) {
    if (event.phase == 'X' && event.Has(key::kTS1) && event.pid.IsInteger())
      ranks.insert(event.pid.integer);
  }
  for (int64_t rank : ranks) devices.push_back(AiuDevice(rank));
  return devices;
}

Frame MakeFrame(const EventList& events, const Metadata& metadata, const Run& run) {
  return {DevicesOf(events, metadata, run), run.options.output, run.options.time_unit,
          OtherData(run.options), metadata.members};
}

// The reference writes nothing of the inputs' facts into files of workers.
Frame WorkerFrame(const std::vector<const Event*>& events, int64_t worker, const Metadata& metadata,
                  const Run& run) {
  Frame frame = MakeFrame({}, metadata, run);
  if (run.options.compat) frame.members.clear();
  const bool is_flex = std::any_of(events.begin(), events.end(), [&](const Event* event) {
    return event->phase == 'X' && run.DialectOf(*event) == Dialect::kFlex;
  });
  if (is_flex) {
    frame.devices = {AiuDevice(worker)};
  } else if (run.options.compat) {
    frame.devices.clear();
  }
  return frame;
}

std::string WithWorker(const std::string& path, int64_t worker) {
  std::string_view stem = path;
  for (std::string_view ending : {".pt.trace.json", ".json"}) {
    if (!stem.ends_with(ending)) continue;
    stem.remove_suffix(ending.size());
    break;
  }
  return fmt::format("{}_worker_{}.pt.trace.json", stem, worker);
}

// Host pids of Flex are those of the devices and 1000.
std::map<int64_t, std::vector<const Event*>> ByWorker(const EventList& events) {
  std::map<int64_t, std::vector<const Event*>> workers;
  for (const Event& event : events) {
    if (!event.pid.IsInteger()) continue;
    const int64_t pid = event.pid.integer;
    workers[pid >= 1000 ? pid - 1000 : pid].push_back(&event);
  }
  return workers;
}

std::map<int64_t, std::vector<const Event*>> ByRank(const EventList& events, const Run& run) {
  std::map<int64_t, std::vector<const Event*>> workers;
  for (const Event& event : events) {
    const Arg* rank = event.Find(key::kRank);
    const auto number = rank == nullptr ? std::nullopt : rank->value().AsInteger(run.strings);
    if (number) workers[*number];
  }
  auto place = [&](const Event& event) -> std::optional<int64_t> {
    if (const Arg* rank = event.Find(key::kRank)) return rank->value().AsInteger(run.strings);
    if (!event.pid.IsInteger()) return std::nullopt;
    const int64_t pid = event.pid.integer;
    return workers.count(pid) > 0 ? pid : pid - 1000;
  };
  for (const Event& event : events) {
    const auto rank = place(event);
    if (rank && workers.count(*rank) > 0) workers[*rank].push_back(&event);
  }
  return workers;
}

}  // namespace

Result<size_t> WriteTrace(const std::string& path, const EventList& events,
                          const Metadata& metadata, Run& run) {
  TRY(WriteFile(path, Pointers(events), MakeFrame(events, metadata, run), run, AppendEvent));
  return events.size();
}

Status WriteWorkers(const EventList& events, const Metadata& metadata, Run& run) {
  auto workers = run.options.compat ? ByWorker(events) : ByRank(events, run);
  // The reference takes one of the pids for that of the collectives' bandwidth.
  const size_t count =
      run.options.compat && workers.size() > 1 ? workers.size() - 1 : workers.size();
  if (count <= 1) {
    run.console.Warning("TB_EXPORTER: a single worker; only the combined file is written");
    return {};
  }
  for (size_t i = 0; i < count; ++i) {
    const auto worker = static_cast<int64_t>(i);
    const Frame frame = WorkerFrame(workers[worker], worker, metadata, run);
    TRY(WriteFile(WithWorker(run.options.output, worker), workers[worker], frame, run,
                  AppendEvent));
  }
  return {};
}

Status WriteStage(const std::string& path, const EventList& events, Run& run) {
  const Frame frame = {{}, path, "ms", OtherDataOfStage(run.options, path), {}};
  return WriteFile(path, Pointers(events), frame, run, AppendRawEvent);
}

}  // namespace debrief::accel
