#include "op_trace/reference.h"

#include <cmath>

#include "op_trace/json_text.h"

namespace debrief::op_trace {

void Flatten(std::span<Entry> entries) {
  std::map<uint64_t, Entry*> last;  // of each thread
  for (Entry& entry : entries) {
    Entry*& before = last[entry.thread];
    // A difference of starts, since their sum with a duration may not fit.
    const bool is_cut = before != nullptr && before->start_ns && entry.start_ns &&
                        *entry.start_ns - *before->start_ns < before->duration_ns.value_or(0);
    if (is_cut) {
      before->WithDuration(*entry.start_ns - *before->start_ns);
      before->WithInputShapes({}).WithOutputShape({}, Dtype::kUnknown, Behaviour::kReference);
    }
    before = &entry;
  }
}

void CompatStacks::Add(std::string_view operation, std::optional<std::string_view> device,
                       double duration_us) {
  std::string stack = "trace;";
  stack += device.value_or("unknown");
  stack += ';';
  stack += operation;
  // As the first op traces: each op weighs a microsecond at least, and NaN weighs that.
  const double weight = std::round(duration_us > 1 ? duration_us : 1.0);
  weights_[std::move(stack)] += static_cast<uint64_t>(weight);
}

std::string CompatStacks::Text() const {
  std::string text;
  for (const auto& [stack, weight] : weights_) {
    if (!text.empty()) text += '\n';
    text += stack + ' ' + std::to_string(weight);
  }
  return text;
}

std::string FrameOf(std::string_view name) {
  std::string frame(name);
  for (char& c : frame) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return frame;
}

void CompatJson::Key(int level, std::string_view key) {
  out_.append(static_cast<size_t>(level) * 2, ' ');
  AppendQuoted(out_, key);
  out_ += ": ";
}

void CompatJson::AppendShape(int level, const Shape& shape) {
  if (shape.empty()) return void(out_ += "[]");
  const std::string indent(static_cast<size_t>(level + 1) * 2, ' ');
  out_ += '[';
  for (size_t i = 0; i < shape.size(); ++i)
    out_ += (i > 0 ? ",\n" : "\n") + indent + std::to_string(shape[i]);
  out_ += '\n' + std::string(static_cast<size_t>(level) * 2, ' ') + ']';
}

void CompatJson::AppendShapes(const std::vector<Shape>& shapes) {
  if (shapes.empty()) return void(out_ += "[]");
  out_ += '[';
  for (size_t i = 0; i < shapes.size(); ++i) {
    out_ += i > 0 ? ",\n        " : "\n        ";
    AppendShape(4, shapes[i]);
  }
  out_ += "\n      ]";
}

void CompatJson::Add(const Entry& entry) {
  out_ += count_ == 0 ? "[\n    {\n" : ",\n    {\n";
  ++count_;
  total_us_ += entry.DurationUs();
  Key(3, "step");
  out_ += std::to_string(entry.step) + ",\n";
  Key(3, "operation");
  AppendQuoted(out_, entry.operation);
  out_ += ",\n";
  Key(3, "device_id");
  entry.device ? AppendQuoted(out_, *entry.device) : void(out_ += "null");
  out_ += ",\n";
  Key(3, "input_shapes");
  AppendShapes(entry.input_shapes);
  out_ += ",\n";
  Key(3, "output_shape");
  AppendShape(3, entry.output_shape.value_or(Shape()));
  out_ += ",\n";
  Key(3, "duration_us");
  AppendDuration(out_, entry.duration_ns);
  out_ += ",\n";
  Key(3, "output_elements");
  out_ += std::to_string(entry.output_elements) + ",\n";
  Key(3, "memory_bytes");
  out_ += std::to_string(entry.memory_bytes) + "\n    }";
}

void CompatJson::Finish(const std::map<std::string, std::string>& metadata) {
  out_ += count_ == 0 ? "[],\n" : "\n  ],\n";
  Key(1, "total_duration_us");
  // A sum with NaN in it is NaN, which the first op traces wrote as null.
  total_us_ == total_us_ ? AppendDouble(out_, total_us_) : void(out_ += "null");
  out_ += ",\n";
  Key(1, "metadata");
  bool is_first = true;
  for (const auto& [key, value] : metadata) {
    out_ += is_first ? "{\n" : ",\n";
    is_first = false;
    Key(2, key);
    AppendQuoted(out_, value);
  }
  out_ += is_first ? "{}\n}" : "\n  }\n}";
}

}  // namespace debrief::op_trace
