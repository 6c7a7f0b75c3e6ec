#include "inputs/process_stacks/py_spy_json.h"

#include <map>
#include <string>

#include "base/json/cursor.h"
#include "torch/stacks/stack_lines.h"

namespace debrief::inputs::process_stacks {

namespace {

std::string StringOf(JsonValue value) { return std::string(value.String().value_or("")); }

Status ReadFrame(JsonValue value, ThreadStack& stack) {
  StackFrame frame;
  std::string short_file;
  TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "name") frame.function = StringOf(field);
    if (key == "filename") frame.file = StringOf(field);
    if (key == "short_filename") short_file = StringOf(field);
    if (key == "line") frame.line = static_cast<int32_t>(field.Int().value_or(0));
  }));
  if (frame.file.empty()) frame.file = std::move(short_file);
  if (stack.frames.size() < StackTextParser::kMostFrames) stack.frames.push_back(std::move(frame));
  return {};
}

// {"pid": 4711, "ppid": 4700, "command_line": "python train.py", ...}
Status ReadProcess(JsonValue value, ThreadStack& stack) {
  if (value.kind() != JsonKind::kObject) return {};
  return value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "command_line") stack.rank = stack_lines::RankOfCommand(StringOf(field));
  });
}

Status ReadThread(JsonValue value, ThreadStack& stack) {
  bool active = false, has_gil = false;
  std::string thread;
  TRY(value.ForEachField([&](std::string_view key, JsonValue field) -> Status {
    if (key == "pid") stack.pid = field.Int().value_or(kNone64);
    if (key == "thread_name") stack.name = StringOf(field);
    if (key == "os_thread_id" || (key == "thread_id" && thread.empty())) {
      if (auto id = field.Int()) thread = std::to_string(*id);
    }
    if (key == "active") active = field.Bool().value_or(false);
    if (key == "owns_gil") has_gil = field.Bool().value_or(false);
    if (key == "process_info") return ReadProcess(field, stack);
    if (key == "frames" && field.kind() == JsonKind::kArray)
      return field.ForEachElement([&](JsonValue frame) { return ReadFrame(frame, stack); });
    return {};
  }));
  stack.thread = std::move(thread);
  stack.source = "py_spy";
  stack.state = has_gil ? "active+gil" : active ? "active" : "idle";
  stack.is_main = stack.name == "MainThread";
  return {};
}

}  // namespace

Status ReadPySpyJson(std::string_view text, const std::function<void(ThreadStack&&)>& on_stack) {
  JsonReader reader;
  TRY(reader.Open(text));
  std::map<int64_t, int32_t> dumps;  // of each process
  return reader.root().ForEachElement([&](JsonValue value) -> Status {
    ThreadStack stack;
    stack.line = kNone64;
    TRY(ReadThread(value, stack));
    stack.dump = dumps.try_emplace(stack.pid, static_cast<int32_t>(dumps.size())).first->second;
    on_stack(std::move(stack));
    return {};
  });
}

}  // namespace debrief::inputs::process_stacks
