#include "inputs/job_text/lines/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/json/cursor.h"
#include "base/json/outline.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

// "terminated" of a container's state or of its last state.
struct Terminated {
  int64_t line = 0;  // from 0
  int64_t exit_code = kNone64;
  std::string reason;
  int64_t time_ns = kNone64;
};

struct Pod {
  int64_t line = 0;
  std::string name;
  std::string reason;  // of the pod: Evicted
  std::string message;
  std::vector<Terminated> ends;
};

// The pods as lines, in order.
void AddLines(const Pod& pod, RangeLines& result) {
  auto add = [&](LineClass what, int64_t line, int64_t time_ns, std::string text) {
    Line& added = result.lines.emplace_back();
    added.what = what;
    added.number = line;
    added.time_ns = time_ns;
    added.text = std::move(text);
  };
  add(LineClass::kPodName, pod.line, kNone64, "Name:   " + pod.name);
  if (pod.reason == "Evicted" || pod.reason == "NodeLost" || pod.reason == "Preempting")
    add(LineClass::kScheduler, pod.line, kNone64,
        fmt::format("Reason: {}: pod {}: {}", pod.reason, pod.name, pod.message));
  for (const Terminated& end : pod.ends) {
    if (end.exit_code == kNone64) continue;
    const bool by_signal = end.exit_code > 128 && end.exit_code < 128 + 64;
    add(end.reason == "OOMKilled" ? LineClass::kOutOfMemory
        : by_signal               ? LineClass::kSignal
                                  : LineClass::kExit,
        end.line, end.time_ns, fmt::format("Exit Code:    {} ({})", end.exit_code, end.reason));
  }
}

// ---- JSON

class PodJson {
 public:
  PodJson(std::string_view text, RangeLines& result) : text_(text), result_(result) {}

  Status Read() {
    TRY(reader_.Open(text_));
    return ReadDocument(reader_.root());
  }

 private:
  // A pod, or a list with pods as its items.
  Status ReadDocument(JsonValue value) {
    Pod pod;
    pod.line = LineOf(value);
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "items" && field.kind() == JsonKind::kArray)
        return field.ForEachElement([&](JsonValue item) { return ReadDocument(item); });
      if (field.kind() != JsonKind::kObject) return {};
      if (key == "metadata") return ReadMetadata(field, pod);
      return key == "status" ? ReadStatus(field, pod) : Status();
    }));
    if (!pod.name.empty()) AddLines(pod, result_);
    return {};
  }

  static Status ReadMetadata(JsonValue value, Pod& pod) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "name") pod.name = field.String().value_or("");
    });
  }

  Status ReadStatus(JsonValue value, Pod& pod) {
    return value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "reason") pod.reason = field.String().value_or("");
      if (key == "message") pod.message = field.String().value_or("");
      bool containers = key == "containerStatuses" || key == "initContainerStatuses";
      if (!containers || field.kind() != JsonKind::kArray) return {};
      return field.ForEachElement([&](JsonValue each) { return ReadContainer(each, pod); });
    });
  }

  Status ReadContainer(JsonValue value, Pod& pod) {
    if (value.kind() != JsonKind::kObject) return {};
    return value.ForEachField([&](std::string_view key, JsonValue state) -> Status {
      bool told = (key == "state" || key == "lastState") && state.kind() == JsonKind::kObject;
      if (!told) return {};
      return state.ForEachField([&](std::string_view kind, JsonValue field) -> Status {
        bool ended = kind == "terminated" && field.kind() == JsonKind::kObject;
        return ended ? ReadEnd(field, pod) : Status();
      });
    });
  }

  Status ReadEnd(JsonValue value, Pod& pod) {
    Terminated& end = pod.ends.emplace_back();
    end.line = LineOf(value);
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "exitCode") end.exit_code = field.Int().value_or(kNone64);
      if (key == "reason") end.reason = field.String().value_or("");
      if (key == "finishedAt") end.time_ns = ParseIsoTime(field.String().value_or(""));
    });
  }

  // Values come in the order of the text, so each line end is counted once.
  int64_t LineOf(const JsonValue& value) {
    const size_t offset = std::min<size_t>(value.offset(), text_.size());
    if (offset > counted_) {
      line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                          text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
      counted_ = offset;
    }
    return line_;
  }

  std::string_view text_;
  RangeLines& result_;
  JsonReader reader_;
  size_t counted_ = 0;
  int64_t line_ = 0;
};

// ---- YAML, as kubectl writes it: a key a line, indented by two

// Which block of keys a line stands in: the last key that is indented less.
class PodYaml {
 public:
  explicit PodYaml(RangeLines& result) : result_(result) {}

  void Add(std::string_view line, int64_t number) {
    size_t indent = line.find_first_not_of(" -");
    if (indent == std::string_view::npos || line[indent] == '#') return;
    std::string_view text = line.substr(indent);
    if (text.starts_with("apiVersion:")) Finish();  // the next pod
    size_t colon = text.find(':');
    if (colon == std::string_view::npos) return;
    std::string_view key = text.substr(0, colon);
    std::string_view value = Trimmed(text.substr(colon + 1), " \"'");
    while (!blocks_.empty() && blocks_.back().indent >= indent) blocks_.pop_back();
    std::string_view block = blocks_.empty() ? std::string_view() : blocks_.back().key;
    if (value.empty()) {
      blocks_.push_back({indent, std::string(key)});
      if (key == "terminated") pod_.ends.push_back({.line = number, .reason = {}});
      return;
    }
    Set(block, key, value, number);
  }

  void Finish() {
    if (!pod_.name.empty()) AddLines(pod_, result_);
    pod_ = {};
  }

 private:
  struct Block {
    size_t indent = 0;
    std::string key;
  };

  void Set(std::string_view block, std::string_view key, std::string_view value, int64_t number) {
    if (block == "metadata" && key == "name" && pod_.name.empty()) {
      pod_.name = value;
      pod_.line = number;
    }
    if (block == "status" && key == "reason") pod_.reason = value;
    if (block == "status" && key == "message") pod_.message = value;
    if (block != "terminated" || pod_.ends.empty()) return;
    Terminated& end = pod_.ends.back();
    if (key == "exitCode") end.exit_code = NumberAfter(value, "");
    if (key == "reason") end.reason = value;
    if (key == "finishedAt") end.time_ns = ParseIsoTime(value);
  }

  RangeLines& result_;
  Pod pod_;
  std::vector<Block> blocks_;
};

}  // namespace

bool IsPodJson(const JsonOutline& json) {
  std::optional<std::string_view> kind = json.Scalar("kind");
  if (!kind || !json.Has("apiVersion")) return false;
  return *kind == "Pod" || *kind == "PodList" || (*kind == "List" && json.Has("items"));
}

bool IsPodYaml(std::string_view head) {
  return Contains(head, "kind: Pod") && Contains(head, "apiVersion: ");
}

RangeLines ReadPods(std::string_view text) {
  RangeLines result;
  result.streams.emplace_back();
  if (Trimmed(text.substr(0, 256)).starts_with('{')) {
    (void)PodJson(text, result).Read();  // what was read before it broke is kept
  } else {
    PodYaml yaml(result);
    int64_t number = 0;
    LineSplitter splitter(text);
    for (std::string_view line; splitter.Next(line); ++number) yaml.Add(line, number);
    yaml.Finish();
  }
  result.line_count = std::count(text.begin(), text.end(), '\n');
  result.streams[0].last_number = result.line_count;
  return result;
}

}  // namespace debrief::inputs::job_text
