#include "accel/export/write_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/bytes/output_file.h"
#include "compat/acelyzer/python_json.h"

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
  // TensorBoard compares workers whose files say which rank of which job they are.
  const auto info = metadata.distributed.find(worker);
  if (!run.options.compat && info != metadata.distributed.end())
    frame.members.push_back({"distributedInfo", info->second});
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

// Host pids of Flex are those of the devices and this (tb_refinement_lightweight).
constexpr int64_t kFlexHostPids = 1000;

using Workers = std::map<int64_t, std::vector<const Event*>>;

Workers ByWorker(const EventList& events) {
  Workers workers;
  for (const Event& event : events) {
    if (!event.pid.IsInteger()) continue;
    const int64_t pid = event.pid.integer;
    workers[pid >= kFlexHostPids ? pid - kFlexHostPids : pid].push_back(&event);
  }
  return workers;
}

// Files 0 to one less than there are pids, whatever the pids are.
Workers Renumbered(Workers by_pid) {
  const auto count = static_cast<int64_t>(by_pid.size()) - 1;
  Workers workers;
  for (int64_t worker = 0; worker < count; ++worker) workers[worker] = std::move(by_pid[worker]);
  return workers;
}

// Which rank an event belongs to: slices say it; what has no arguments of its own (counters, names,
// ends of arrows) belongs to the rank of its file or of its process.
class RankFinder {
 public:
  RankFinder(const EventList& events, const Run& run) : run_(run) {
    for (const Event& event : events) {
      const auto rank = Told(event);
      if (!rank) continue;
      ranks_.insert(*rank);
      of_process_.try_emplace({event.job, event.pid}, *rank);
      of_process_.try_emplace({kNoJob, event.pid}, *rank);
    }
  }

  std::optional<int64_t> Of(const Event& event) const {
    if (const auto rank = Told(event)) return rank;
    if (const auto at = of_process_.find({event.job, event.pid}); at != of_process_.end())
      return at->second;
    if (event.job < run_.jobs.size() && run_.jobs[event.job].dialect == Dialect::kTorch)
      return run_.jobs[event.job].rank;
    if (const auto at = of_process_.find({kNoJob, event.pid}); at != of_process_.end())
      return at->second;
    if (!event.pid.IsInteger()) return std::nullopt;
    // Processes of Flex that have a name and no slices.
    for (const int64_t rank : {event.pid.integer, event.pid.integer - kFlexHostPids}) {
      if (ranks_.contains(rank)) return rank;
    }
    return std::nullopt;
  }

 private:
  std::optional<int64_t> Told(const Event& event) const {
    return event.phase == 'C' ? std::nullopt : IntegerArg(event, key::kRank, run_);
  }

  struct Process {
    uint32_t job;  // kNoJob: of any file
    Value pid;
    bool operator==(const Process&) const = default;
  };
  struct ProcessHash {
    size_t operator()(const Process& process) const {
      return ValueHash()(process.pid) * 31 + process.job;
    }
  };

  const Run& run_;
  std::set<int64_t> ranks_;
  std::unordered_map<Process, int64_t, ProcessHash> of_process_;
};

// Ends of one arrow.
using ArrowKey = std::tuple<StringId, uint32_t, Value>;
struct ArrowHash {
  size_t operator()(const ArrowKey& key) const {
    return ValueHash()(std::get<2>(key)) * 31 + static_cast<size_t>(std::get<0>(key)) * 7 +
           std::get<1>(key);
  }
};

bool IsArrowEnd(const Event& event) {
  return event.phase == 's' || event.phase == 't' || event.phase == 'f';
}

std::optional<ArrowKey> ArrowOf(const Event& event) {
  const Arg* id = IsArrowEnd(event) ? event.Find(key::kId, ArgPlace::kTop) : nullptr;
  if (id == nullptr) return std::nullopt;
  return ArrowKey(event.cat, event.job, id->value());
}

// An arrow between two ranks is whole in the file of each: no file has one of its ends alone. What
// belongs to no rank (the bandwidth of all together) is in every file.
Workers ByRank(const EventList& events, const Run& run) {
  const RankFinder finder(events, run);
  Workers workers;
  std::unordered_map<ArrowKey, std::set<int64_t>, ArrowHash> arrows;
  for (const Event& event : events) {
    const auto rank = finder.Of(event);
    if (!rank) continue;
    if (event.phase == 'X') workers.try_emplace(*rank);
    if (const auto arrow = ArrowOf(event)) arrows[*arrow].insert(*rank);
  }
  const auto give = [&](const Event& event, int64_t rank) {
    if (const auto at = workers.find(rank); at != workers.end()) at->second.push_back(&event);
  };
  for (const Event& event : events) {
    const auto rank = finder.Of(event);
    const auto arrow = ArrowOf(event);
    if (arrow && rank) {
      for (const int64_t each : arrows[*arrow]) give(event, each);
    } else if (rank) {
      give(event, *rank);
    } else {
      for (auto& [each, list] : workers) list.push_back(&event);
    }
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
  Workers workers = run.options.compat ? ByWorker(events) : ByRank(events, run);
  // The reference takes one of the pids for that of the collectives' bandwidth, and numbers the
  // others from 0 on.
  if (run.options.compat && workers.size() > 1) workers = Renumbered(std::move(workers));
  if (workers.size() <= 1) {
    run.console.Warning("TB_EXPORTER: a single worker; only the combined file is written");
    return {};
  }
  for (const auto& [worker, list] : workers) {
    const Frame frame = WorkerFrame(list, worker, metadata, run);
    TRY(WriteFile(WithWorker(run.options.output, worker), list, frame, run, AppendEvent));
  }
  return {};
}

Status WriteStage(const std::string& path, const EventList& events, Run& run) {
  const Frame frame = {{}, path, "ms", OtherDataOfStage(run.options, path), {}};
  return WriteFile(path, Pointers(events), frame, run, AppendRawEvent);
}

}  // namespace debrief::accel
