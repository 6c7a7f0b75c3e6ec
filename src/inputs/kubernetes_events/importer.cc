// Events of Kubernetes: `kubectl get events -o json`, -o yaml. docs/formats/kubernetes_events.md
//
//   {"kind":"List","items":[{"kind":"Event","reason":"Evicted","involvedObject":{"kind":"Pod",
//     "name":"trainer-worker-3"},"message":"The node was low on resource: memory.", ...}]}
#include "inputs/importer.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "base/json/cursor.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "inputs/records/job_statements.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"
#include "tables/cluster_event.h"
#include "torch/glog_time.h"

namespace debrief::inputs::kubernetes_events {

namespace {

constexpr DiagnosticKind kEventsJson = {"kubernetes_events.bad_json", Severity::kError,
                                        "the JSON is broken; what could be read is kept",
                                        "Ask again: `kubectl get events -o json`."};
constexpr DiagnosticKind kEventsLong = {"kubernetes_events.too_long", Severity::kWarning,
                                        "the JSON is longer than 256 MB; not read",
                                        "Ask for one namespace: `kubectl get events -n NAME`."};
constexpr DiagnosticKind kSeveralPods = {
    "kubernetes_events.several_jobs", Severity::kInfo,
    "the events are about pods of several jobs, and no name says which of them is this one; they "
    "are listed and not used",
    "Ask for one job: `kubectl get events --field-selector involvedObject.name=POD`."};
constexpr uint64_t kMostEvents = 256 << 20;

struct ClusterEvent {
  std::string kind, name;  // of the object
  std::string reason, message;
  bool warning = false;
  int64_t time_ns = kNone64;
  int32_t count = 1;
};

bool IsEventList(const JsonOutline& json) {
  const auto kind = json.Scalar("kind");
  if (!kind || !json.Has("apiVersion")) return false;
  if (*kind == "Event") return json.Has("involvedObject") || json.Has("regarding");
  const bool list = *kind == "List" || *kind == "EventList";
  return list && (json.Has("items[].involvedObject") || json.Has("items[].regarding"));
}

bool IsYaml(std::string_view head) {
  return StartsWithAny(Trimmed(head), {"apiVersion: ", "---\napiVersion: "}) &&
         HasWord(head, "kind: Event\n") &&
         (HasWord(head, "involvedObject:") || HasWord(head, "regarding:"));
}

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr) return {.mine = IsEventList(*input.json)};
  return {.mine = IsYaml(input.head)};
}

void SetField(std::string_view key, std::string_view text, ClusterEvent& event) {
  if (key == "reason") event.reason = text;
  if (key == "message" || key == "note") event.message = text;
  if (key == "type") event.warning = text == "Warning";
  const bool time = key == "lastTimestamp" || key == "eventTime" || key == "firstTimestamp" ||
                    key == "deprecatedLastTimestamp";
  if (time && (event.time_ns == kNone64 || key == "lastTimestamp")) {
    const int64_t parsed = ParseIsoTime(text);
    if (parsed != kNone64) event.time_ns = parsed;
  }
}

void SetCount(int64_t count, ClusterEvent& event) {
  constexpr int64_t kMost = 1 << 30;
  if (count > 0 && count < kMost) event.count = static_cast<int32_t>(count);
}

// Events in the YAML that kubectl writes: one key a line, objects further to the right, texts of
// several lines still further. No other YAML is understood.
class YamlReader {
 public:
  explicit YamlReader(std::vector<ClusterEvent>& events) : events_(events) {}

  void Add(std::string_view line) {
    size_t indent = line.find_first_not_of(' ');
    if (indent == std::string_view::npos) return;
    std::string_view text = Trimmed(line.substr(indent));
    if (TakePrefix(text, "- ")) {
      Flush();
      indent += 2;
      level_ = indent;
    }
    if (indent < level_ || text == "---") Flush();
    if (indent <= level_) level_ = indent;
    const size_t colon = text.find(':');
    const bool is_key =
        colon != std::string_view::npos && (colon + 1 == text.size() || text[colon + 1] == ' ');
    const std::string_view key = is_key ? text.substr(0, colon) : std::string_view();
    const std::string_view value = is_key ? Trimmed(text.substr(colon + 1), " '\"") : text;
    if (indent == level_) {
      section_ = key;
      SetField(key, value, event_);
      if (key == "count") SetCount(LeadingNumber(value, 0), event_);
      return;
    }
    if (section_ == "message" || section_ == "note")
      event_.message += " " + std::string(Trimmed(text, " '\""));
    if (section_ != "involvedObject" && section_ != "regarding") return;
    if (key == "kind") event_.kind = value;
    if (key == "name") event_.name = value;
  }

  void Flush() {
    if (!event_.reason.empty() && !event_.kind.empty()) events_.push_back(std::move(event_));
    event_ = {};
    section_.clear();
  }

 private:
  std::vector<ClusterEvent>& events_;
  ClusterEvent event_;
  std::string section_;  // the key of the event that the lines further to the right belong to
  size_t level_ = 0;     // where keys of the event begin
};

class EventReader {
 public:
  explicit EventReader(std::vector<ClusterEvent>& events) : events_(events) {}

  // An event, or a list with events as its items.
  Status Read(JsonValue value) {
    ClusterEvent event;
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "items" && field.kind() == JsonKind::kArray) {
        return field.ForEachElement([&](JsonValue item) {
          return item.kind() == JsonKind::kObject ? Read(item) : Status();
        });
      }
      const bool object = key == "involvedObject" || key == "regarding";
      if (object && field.kind() == JsonKind::kObject) {
        return field.ForEachField([&](std::string_view name, JsonValue text) {
          if (name == "kind") event.kind = text.String().value_or("");
          if (name == "name") event.name = text.String().value_or("");
        });
      }
      ReadField(key, field, event);
      return {};
    }));
    if (!event.reason.empty()) events_.push_back(std::move(event));
    return {};
  }

 private:
  static void ReadField(std::string_view key, JsonValue field, ClusterEvent& event) {
    if (field.kind() == JsonKind::kString) SetField(key, field.String().value_or(""), event);
    if (key == "count") SetCount(field.Int().value_or(0), event);
  }

  std::vector<ClusterEvent>& events_;
};

// Pods of one job differ by their number, or by what a controller hung on: "trainer-worker" of
// "trainer-worker-3", "train" of "train-7d9f4-x2x9k". Roles of one job share what stands before.
std::string JobOfPod(std::string_view pod) {
  const size_t dash = pod.find('-');
  return std::string(pod.substr(0, dash));
}

int64_t PidIn(std::string_view text) {
  for (std::string_view key : {"pid: ", "Killed process ", "Kill process "}) {
    const size_t at = text.find(key);
    if (at == std::string_view::npos) continue;
    return LeadingNumber(text.substr(at + key.size()), kNone64);
  }
  return kNone64;
}

class EventsReader final : public TextReader {
 public:
  explicit EventsReader(const ImportContext& context) : TextReader(context), path_(context.path) {}

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    std::vector<ClusterEvent> events;
    ASSIGN_OR_RETURN(const bool is_json, IsJsonObject(source));
    if (!is_json) {
      YamlReader yaml(events);
      TRY(ForEachLine(source, [&](std::string_view line, int64_t) { yaml.Add(line); }));
      yaml.Flush();
    } else {
      TRY(ReadJson(source, range, {kMostEvents, kEventsLong, kEventsJson}, part,
                   [&](std::string_view text) { return ReadEvents(text, events); }));
    }
    for (const ClusterEvent& event : events) AddRow(event, part);
    const std::set<std::string> jobs = JobsOf(events, part);
    for (const ClusterEvent& event : events) AddWhatItSays(event, jobs, part);
    return {};
  }

 private:
  // A list, or events one behind the other (`kubectl get events --watch -o json`).
  static Status ReadEvents(std::string_view text, std::vector<ClusterEvent>& events) {
    Status first;
    ForEachDocument(text, [&](std::string_view document, size_t) {
      JsonReader json;
      Status status = json.Open(document);
      if (status.ok()) status = EventReader(events).Read(json.root());
      if (first.ok()) first = std::move(status);
    });
    return first;
  }

  void AddRow(const ClusterEvent& event, Part& part) const {
    auto row = Part::RowOf<ClusterEventRow>(who_);
    row.rank = kNone32;
    row.time_ns = event.time_ns;
    row.object = part.pools.Intern(event.kind + "/" + event.name);
    row.reason = part.pools.Intern(event.reason);
    row.warning = event.warning ? 1 : 0;
    row.count = event.count;
    row.text = part.pools.Intern(event.message);
    part.tables.Edit<ClusterEventTable>().Add(row);
  }

  // The only job whose pods are named, or the one that the path names; events of a namespace are
  // about others, too.
  std::set<std::string> JobsOf(const std::vector<ClusterEvent>& events, Part& part) const {
    std::set<std::string> jobs, named;
    for (const ClusterEvent& event : events) {
      if (event.kind == "Pod") jobs.insert(JobOfPod(event.name));
    }
    if (jobs.size() <= 1) return jobs;
    for (const std::string& job : jobs) {
      if (job.size() > 3 && Contains(path_, job)) named.insert(job);
    }
    if (named.empty()) part.diagnostics.Add(kSeveralPods, who_.input, {});
    return named;
  }

  void AddWhatItSays(const ClusterEvent& event, const std::set<std::string>& jobs,
                     Part& part) const {
    if (event.kind == "Pod" && !jobs.contains(JobOfPod(event.name))) return;
    JobStatement statement;
    statement.time_ns = event.time_ns;
    statement.text =
        fmt::format("Reason: {}: {} {}: {}", event.reason, event.kind == "Pod" ? "pod" : event.kind,
                    event.name, event.message);
    const bool pod = event.kind == "Pod";
    if (pod && IsOutside(event.reason)) {
      statement.kind = "scheduler";
      if (event.reason == "TaintManagerEviction") statement.text += " (Evicted)";
      if (event.reason == "NodeShutdown" || event.reason == "NodeLost")
        statement.text += " (NodeNotReady)";
      return AddStatement(who_, statement, part);
    }
    if (Contains(event.message, "NVRM: Xid")) {
      statement.kind = "xid";
      return AddStatement(who_, statement, part);
    }
    // A node's event names any process of the node: those that may be of a job count.
    const bool memory = event.reason == "OOMKilling" || event.reason == "SystemOOM";
    const bool python = Contains(event.message, "python") || Contains(event.message, "pt_");
    if (!memory || !(pod || python)) return;
    constexpr int32_t kKilled = -9;
    statement.kind = "out_of_memory";
    statement.text += " (OOMKilled)";
    statement.said_by = "kubernetes";
    statement.host = event.name;
    statement.pid = PidIn(event.message);
    statement.exit_code = kKilled;
    AddStatement(who_, statement, part);
  }

  static bool IsOutside(std::string_view reason) {
    return reason == "Evicted" || reason == "Preempted" || reason == "Preempting" ||
           reason == "TaintManagerEviction" || reason == "NodeNotReady" ||
           reason == "NodeShutdown" || reason == "NodeLost";
  }

  std::string path_;
};

constexpr std::array<std::string_view, 3> kMakes = {"cluster_event", "text_event", "process_exit"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "kubernetes_events",
               .sentence = "events of Kubernetes: evictions, preemptions, lack of memory",
               .example = "events.json",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<EventsReader>};
  return kImporter;
}

}  // namespace debrief::inputs::kubernetes_events
