#include "inputs/op_trace/entry.h"

#include <cmath>

#include "inputs/op_trace/diagnostics.h"

namespace debrief::inputs::op_trace {

Status EntryParser::Add(JsonValue entry) {
  if (entry.kind() != JsonKind::kObject) {
    Report(kBadEntry, entry, "not an object");
    return {};
  }
  auto row = Part::RowOf<RecordedOpRow>(who_);
  row.input = who_.input;
  TRY(entry.ForEachField(
      [&](std::string_view key, JsonValue value) { return AddField(key, value, row); }));
  if (row.operation == StringId::kNone) {
    Report(kBadEntry, entry, "no operation");
  } else {
    rows_.Add(row);
  }
  return {};
}

Status EntryParser::AddField(std::string_view key, JsonValue value, RecordedOpRow& row) {
  if (key == "operation") {
    if (auto name = value.String()) row.operation = part_.pools.Intern(*name);
  } else if (key == "device_id") {
    if (auto name = value.String()) row.device = part_.pools.Intern(*name);
  } else if (key == "step") {
    row.step = Count(value);
  } else if (key == "input_shapes") {
    row.input_shapes = Shapes(value);
  } else if (key == "output_shape") {
    row.output_shape = Shape(value);
  } else if (key == "duration_us") {
    row.duration_ns = Duration(value);
  } else if (key == "output_elements") {
    row.output_elements = Count(value);
  } else if (key == "memory_bytes") {
    row.memory_bytes = Count(value);
  }
  return {};
}

void EntryParser::Report(const DiagnosticKind& kind, JsonValue value, std::string detail) {
  part_.diagnostics.Add(
      kind, who_.input,
      {.offset = static_cast<int64_t>(offset_ + value.offset()), .detail = std::move(detail)});
}

int64_t EntryParser::Count(JsonValue value) {
  auto number = value.Int();
  if (number && *number >= 0) return *number;
  Report(kOutOfRange, value, std::string(value.Raw().value_or("").substr(0, 40)));
  return kNone64;
}

int64_t EntryParser::Duration(JsonValue value) {
  constexpr double kLongestUs = 9e15;  // what fits int64 nanoseconds: 285 years
  auto micros = value.Double();
  if (!micros || std::abs(*micros) > kLongestUs) {
    Report(kNoDuration, value, std::string(value.Raw().value_or("").substr(0, 40)));
    return kNone64;
  }
  return std::llround(*micros * 1000);
}

ListId EntryParser::Shape(JsonValue value) {
  dims_.clear();
  bool is_list = value.ForEachElement([&](JsonValue dim) { dims_.push_back(Count(dim)); }).ok();
  return is_list ? part_.pools.lists.Intern(dims_) : ListId::kNone;
}

// Shapes repeat, so the text of them all is interned once. White space differs between writers.
StringId EntryParser::Shapes(JsonValue value) {
  auto raw = value.Raw();
  if (!raw) return StringId::kNone;
  text_.clear();
  for (char c : *raw) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') text_ += c;
  }
  return part_.pools.Intern(text_);
}

}  // namespace debrief::inputs::op_trace
