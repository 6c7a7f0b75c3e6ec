#include "inputs/tritonparse/event.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/text/strings.h"

namespace debrief::inputs::tritonparse {

namespace {

int32_t Small(JsonValue value) {
  const auto number = value.Int();
  const bool fits = number && *number == static_cast<int32_t>(*number);
  return fits ? static_cast<int32_t>(*number) : kNone32;
}

// Reads one line into an Event.
class EventReader {
 public:
  explicit EventReader(Part& part) : part_(part) {}

  Status Read(JsonValue root, Event& event) {
    TRY(root.ForEachField(
        [&](std::string_view key, JsonValue value) { return ReadField(key, value, event); }));
    if (event.kind == EventKind::kCompilation && event.kernel.kernel == StringId::kNone)
      event.kind = EventKind::kOther;
    event.kernel.stack = stack_;
    event.kernel.compile_id = CompileId();
    return {};
  }

 private:
  Status ReadField(std::string_view key, JsonValue value, Event& event) {
    if (key == "event_type") {
      const std::string_view type = value.String().value_or("");
      if (type == "compilation") event.kind = EventKind::kCompilation;
      if (type == "launch") event.kind = EventKind::kLaunch;
      if (type == "autotune") event.kind = EventKind::kTuning;
      return {};
    }
    if (key == "pid") event.kernel.pid = value.Int().value_or(kNone64);
    if (key == "timestamp") event.kernel.time_ns = TimeOf(value.String().value_or(""));
    if (key == "stack") return ReadStack(value);
    if (key == "payload") return ReadPayload(value, event.kernel);
    if (key == "name") event.launched = value.String().value_or("");
    if (key == "grid") event.grid = value.Raw().value_or("");
    if (key == "compilation_metadata") return ReadLaunched(value, event);
    return ReadTuning(key, value, event.tuning);
  }

  Status ReadLaunched(JsonValue value, Event& event) {
    if (value.kind() != JsonKind::kObject) return {};
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "hash") event.launched_hash = field.String().value_or("");
    });
  }

  Status ReadTuning(std::string_view key, JsonValue value, TritonTuningRow& row) {
    if (key == "kernel_name") row.kernel = Text(value);
    if (key == "best_config") row.best = Text(value);
    if (key == "duration") row.seconds = value.Double().value_or(kNoDouble);
    if (key == "cache_hit") row.cache_hit = value.Bool().value_or(false) ? 1 : 0;
    if (key != "configs_timings" || value.kind() != JsonKind::kObject) return {};
    row.configs = 0;
    return value.ForEachField([&](std::string_view, JsonValue) { ++row.configs; });
  }

  Status ReadPayload(JsonValue value, TritonKernelRow& row) {
    if (value.kind() != JsonKind::kObject) return {};
    return value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (field.kind() != JsonKind::kObject) return {};
      if (key == "metadata") return ReadMetadata(field, row);
      if (key == "pt_info") return ReadCompileId(field);
      if (key == "python_source") return ReadSource(field, row);
      return {};
    });
  }

  Status ReadMetadata(JsonValue value, TritonKernelRow& row) {
    return value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "name") row.kernel = Text(field);
      if (key == "hash") row.hash = Text(field);
      if (key == "num_warps") row.num_warps = Small(field);
      if (key == "num_stages") row.num_stages = Small(field);
      if (key == "num_ctas") row.num_ctas = Small(field);
      if (key == "shared") row.shared = field.Int().value_or(kNone64);
      if (key == "cache_hit") row.cache_hit = field.Bool().value_or(false) ? 1 : 0;
      if (key == "target") return ReadTarget(field, row);
      if (key == "times") return ReadTimes(field, row);
      return {};
    });
  }

  // {"backend": "cuda", "arch": 90, "warp_size": 32}: cuda:90.
  Status ReadTarget(JsonValue value, TritonKernelRow& row) {
    if (value.kind() != JsonKind::kObject) {
      row.target = Text(value);
      return {};
    }
    std::string backend, arch;
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "backend") backend = field.String().value_or("");
      if (key != "arch") return;
      arch = field.kind() == JsonKind::kString ? field.String().value_or("")
                                               : field.Raw().value_or("");
    }));
    row.target = part_.pools.Intern(arch.empty() ? backend : fmt::format("{}:{}", backend, arch));
    return {};
  }

  // Microseconds of the stages: {"ir_initialization": 412, "lowering_stages": [["ttir", 3107]],
  // "store_results": 88}.
  Status ReadTimes(JsonValue value, TritonKernelRow& row) {
    if (value.kind() != JsonKind::kObject) return {};
    double micros = 0;
    TRY(value.ForEachField([&](std::string_view, JsonValue field) -> Status {
      if (field.kind() == JsonKind::kNumber) micros += field.Double().value_or(0);
      if (field.kind() != JsonKind::kArray) return {};
      return field.ForEachElement([&](JsonValue stage) -> Status {
        if (stage.kind() != JsonKind::kArray) return {};
        return stage.ForEachElement([&](JsonValue part) {
          if (part.kind() == JsonKind::kNumber) micros += part.Double().value_or(0);
        });
      });
    }));
    row.seconds = micros / 1e6;
    return {};
  }

  Status ReadCompileId(JsonValue value) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "compiled_autograd_id") autograd_ = field.Int();
      if (key == "frame_id") frame_ = field.Int();
      if (key == "frame_compile_id") frame_compile_ = field.Int();
    });
  }

  Status ReadSource(JsonValue value, TritonKernelRow& row) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "file_path") row.file = Text(field);
      if (key == "start_line") row.source_line = Small(field);
    });
  }

  // As PyTorch keeps stacks, the outermost frame is first.
  Status ReadStack(JsonValue value) {
    if (value.kind() != JsonKind::kArray) return {};
    std::vector<FrameId> frames;
    TRY(value.ForEachElement([&](JsonValue element) -> Status {
      if (element.kind() != JsonKind::kObject) return {};
      Frame frame;
      TRY(element.ForEachField([&](std::string_view key, JsonValue field) {
        if (key == "filename") frame.file = Text(field);
        if (key == "name") frame.function = Text(field);
        if (key == "line") frame.line = std::max(Small(field), 0);
      }));
      frames.push_back(part_.pools.AddFrame(frame));
      return {};
    }));
    if (frames.empty()) return {};
    std::reverse(frames.begin(), frames.end());
    stack_ = part_.pools.AddStack(frames);
    return {};
  }

  // 0/1, with the compilation of autograd !2/0/1, as entries of TORCH_TRACE have it.
  StringId CompileId() {
    if (!frame_ || !frame_compile_) return StringId::kNone;
    const std::string id = fmt::format("{}/{}", *frame_, *frame_compile_);
    return part_.pools.Intern(autograd_ ? fmt::format("!{}/{}", *autograd_, id) : id);
  }

  StringId Text(JsonValue value) {
    const auto text = value.String();
    return text ? part_.pools.Intern(*text) : StringId::kNone;
  }

  Part& part_;
  StackId stack_ = StackId::kNone;
  std::optional<int64_t> autograd_, frame_, frame_compile_;
};

}  // namespace

Result<Event> ReadEvent(JsonReader& reader, std::string_view line, Part& part) {
  TRY(reader.Open(line));
  Event event;
  TRY(EventReader(part).Read(reader.root(), event));
  return event;
}

int64_t TimeOf(std::string_view timestamp) {
  constexpr std::string_view kForm = "2025-07-07T19:58:27";
  if (timestamp.size() < kForm.size() || timestamp[10] != 'T') return kNone64;
  auto number = [&](size_t at, size_t digits) {
    return ParseNumber<int>(timestamp.substr(at, digits));
  };
  const auto year = number(0, 4), month = number(5, 2), day = number(8, 2);
  const auto hour = number(11, 2), minute = number(14, 2), second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return kNone64;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < 1970 || *year > 2200) return kNone64;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t seconds = ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
  return seconds * 1'000'000'000;
}

}  // namespace debrief::inputs::tritonparse
