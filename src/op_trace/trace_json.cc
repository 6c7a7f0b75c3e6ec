// A trace as JSON.
//
//   {"entries": [{"device_id": null, "dtype": null, "duration_us": 12.5, ...}, ...],
//    "metadata": {"model": "tiny"}, "total_duration_us": 12.5}
//
// One entry a line, some 300 bytes each; keys in order, so that equal traces give equal bytes. The
// form of kCompat is that of the first op traces: their keys in their order, two blanks a level.
#include "op_trace/trace_json.h"

#include "op_trace/json_text.h"

namespace debrief::op_trace {
namespace {

void AppendShape(std::string& out, const Shape& shape) {
  out += '[';
  for (size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? "," : "") + std::to_string(shape[i]);
  out += ']';
}

void AppendShapes(std::string& out, const std::vector<Shape>& shapes) {
  out += '[';
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (i > 0) out += ',';
    AppendShape(out, shapes[i]);
  }
  out += ']';
}

void AppendDuration(std::string& out, const std::optional<int64_t>& duration_ns) {
  if (duration_ns) {
    AppendMicros(out, *duration_ns);
  } else {
    out += "null";
  }
}

void AppendEntry(std::string& out, const Entry& entry) {
  out += R"({"device_id": )";
  entry.device ? AppendQuoted(out, *entry.device) : void(out += "null");
  out += R"(, "dtype": )";
  entry.dtype != Dtype::kUnknown ? AppendQuoted(out, DtypeName(entry.dtype)) : void(out += "null");
  out += R"(, "duration_us": )";
  AppendDuration(out, entry.duration_ns);
  out += R"(, "input_shapes": )";
  AppendShapes(out, entry.input_shapes);
  out += R"(, "memory_assumed": )";
  out += entry.memory_assumed ? "true" : "false";
  out += R"(, "memory_bytes": )" + std::to_string(entry.memory_bytes);
  out += R"(, "open": )";
  out += entry.open ? "true" : "false";
  out += R"(, "operation": )";
  AppendQuoted(out, entry.operation);
  out += R"(, "output_elements": )" + std::to_string(entry.output_elements);
  out += R"(, "output_shape": )";
  entry.output_shape ? AppendShape(out, *entry.output_shape) : void(out += "null");
  out += R"(, "start_ns": )" + (entry.start_ns ? std::to_string(*entry.start_ns) : "null");
  out += R"(, "step": )" + std::to_string(entry.step);
  out += R"(, "thread": )" + std::to_string(entry.thread) + "}";
}

}  // namespace

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

std::string Trace::ToJson() const {
  std::string out;
  if (corners_ == Corners::kCompat) {
    CompatJson json(out);
    for (const Entry& entry : entries_) json.Add(entry);
    json.Finish(metadata_);
    return out;
  }
  out = R"({"entries": [)";
  for (const Entry& entry : entries_) {
    out += &entry == entries_.data() ? "\n" : ",\n";
    AppendEntry(out, entry);
  }
  out += "],\n\"metadata\": {";
  for (const auto& [key, value] : metadata_) {
    if (out.back() != '{') out += ", ";
    AppendQuoted(out, key);
    out += ": ";
    AppendQuoted(out, value);
  }
  out += "},\n\"total_duration_us\": ";
  AppendMicros(out, TotalDurationNs());
  out += "}\n";
  return out;
}

}  // namespace debrief::op_trace
