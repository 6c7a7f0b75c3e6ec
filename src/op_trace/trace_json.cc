// A trace as JSON.
//
//   {"entries": [{"device_id": null, "dtype": null, "duration_us": 12.5, ...}, ...],
//    "metadata": {"model": "tiny"}, "total_duration_us": 12.5}
//
// One entry a line, some 300 bytes each; keys in order, so that equal traces give equal bytes. The
// form of kReference is that of the first op traces: their keys in their order, two blanks a level.
#include "op_trace/json_text.h"
#include "op_trace/reference.h"

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

std::string Trace::ToJson() const {
  std::string out;
  if (behaviour_ == Behaviour::kReference) {
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
