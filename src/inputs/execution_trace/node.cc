#include "inputs/execution_trace/node.h"

#include <algorithm>
#include <array>

namespace debrief::inputs::execution_trace {

namespace {

int32_t Narrow(int64_t value) {
  return value == static_cast<int32_t>(value) ? static_cast<int32_t>(value) : kNone32;
}

}  // namespace

Status NodeParser::Add(JsonValue node) {
  uint64_t begin = node.offset();
  EndLast(begin);
  auto row = Part::RowOf<ExecutionNodeRow>(who_);
  row.input = who_.input;
  row.byte_begin = static_cast<int64_t>(offset_ + begin);
  bool is_object = node.kind() == JsonKind::kObject;
  if (is_object) {
    TRY(node.ForEachField(
        [&](std::string_view key, JsonValue value) { return AddField(key, value, row); }));
  }
  if (row.node == kNone64 || row.name == StringId::kNone) {
    part_.diagnostics.Add(kBadNode, who_.input,
                          {.offset = row.byte_begin,
                           .detail = !is_object            ? "not an object"
                                     : row.node == kNone64 ? "no id"
                                                           : "no name"});
    return {};
  }
  rows_.Add(row);
  is_open_ = true;
  return {};
}

// The last node ends with the last brace before the next one.
void NodeParser::EndLast(uint64_t next) {
  if (!is_open_) return;
  is_open_ = false;
  auto begin = static_cast<uint64_t>(rows_.byte_begin.back()) - offset_;
  size_t brace = next == 0 ? std::string_view::npos : text_.rfind('}', next - 1);
  bool is_found = brace != std::string_view::npos && brace >= begin;
  rows_.bytes.back() = static_cast<int64_t>((is_found ? brace + 1 : next) - begin);
}

Status NodeParser::AddField(std::string_view key, JsonValue value, ExecutionNodeRow& row) {
  bool is_object = value.kind() == JsonKind::kObject;
  if (key == "attrs") return AddAttributes(value, row);
  if (key == "inputs" && is_object) return AddTensors(value, row.input_shapes, row.input_types);
  if (key == "outputs" && is_object) return AddTensors(value, row.output_shapes, row.output_types);
  if (key == "input_shapes") row.input_shapes = Compact(value);
  if (key == "input_types") row.input_types = Compact(value);
  if (key == "output_shapes") row.output_shapes = Compact(value);
  if (key == "output_types") row.output_types = Compact(value);
  if (AddNumber(key, value.IntOrText(), row)) return {};
  if (value.kind() == JsonKind::kString) AddText(key, value.String().value_or(""), row);
  return {};
}

Status NodeParser::AddTensors(JsonValue value, StringId& shapes, StringId& types) {
  return value.ForEachField([&](std::string_view key, JsonValue part) {
    if (key == "shapes") shapes = Compact(part);
    if (key == "types") types = Compact(part);
  });
}

Status NodeParser::AddAttributes(JsonValue value, ExecutionNodeRow& row) {
  if (value.kind() != JsonKind::kArray) return {};
  return value.ForEachElement([&](JsonValue attribute) -> Status {
    if (attribute.kind() != JsonKind::kObject) return {};
    std::string_view name;
    std::string_view text;
    std::optional<int64_t> number;
    TRY(attribute.ForEachField([&](std::string_view key, JsonValue part) {
      if (key == "name") name = part.String().value_or("");
      if (key == "value") {
        number = part.IntOrText();
        if (part.kind() == JsonKind::kString) text = part.String().value_or("");
      }
    }));
    // The node's own name and id are no attributes.
    if (name == "name" || name == "id") return {};
    if (!AddNumber(name, number, row)) AddText(name, text, row);
    return {};
  });
}

// True when the key is one of a number, whether it has one or not.
bool NodeParser::AddNumber(std::string_view key, std::optional<int64_t> number,
                           ExecutionNodeRow& row) {
  struct Place {
    std::string_view key;
    int64_t ExecutionNodeRow::* column;
  };
  static constexpr std::array kPlaces = {
      Place{"id", &ExecutionNodeRow::node},
      Place{"ctrl_deps", &ExecutionNodeRow::parent},
      Place{"parent", &ExecutionNodeRow::parent},
      Place{"rf_id", &ExecutionNodeRow::rf_id},
      Place{"fw_parent", &ExecutionNodeRow::fw_parent},
      Place{"seq_id", &ExecutionNodeRow::sequence},
      Place{"tid", &ExecutionNodeRow::thread},
      Place{"fw_tid", &ExecutionNodeRow::forward_thread},
      Place{"in_msg_nelems", &ExecutionNodeRow::input_elements},
      Place{"out_msg_nelems", &ExecutionNodeRow::output_elements},
  };
  int64_t value = number.value_or(kNone64);
  if (key == "scope") row.scope = Narrow(value);
  if (key == "pg_size") row.group_size = Narrow(value);
  if (key == "scope" || key == "pg_size") return true;
  const auto* place = std::find_if(kPlaces.begin(), kPlaces.end(),
                                   [&](const Place& known) { return known.key == key; });
  if (place == kPlaces.end()) return false;
  bool is_none = key == "seq_id" && value == -1;
  row.*(place->column) = is_none ? kNone64 : value;
  return true;
}

// An empty text means that there is none.
void NodeParser::AddText(std::string_view key, std::string_view text, ExecutionNodeRow& row) {
  struct Place {
    std::string_view key;
    StringId ExecutionNodeRow::* column;
  };
  static constexpr std::array kPlaces = {
      Place{"name", &ExecutionNodeRow::name},
      Place{"op_schema", &ExecutionNodeRow::op_schema},
      Place{"kernel_backend", &ExecutionNodeRow::kernel_backend},
      Place{"kernel_file", &ExecutionNodeRow::kernel_file},
      Place{"collective_name", &ExecutionNodeRow::collective},
      Place{"pg_name", &ExecutionNodeRow::group_name},
      Place{"pg_desc", &ExecutionNodeRow::group_desc},
      Place{"dtype", &ExecutionNodeRow::dtype},
  };
  if (text.empty()) return;
  const auto* place = std::find_if(kPlaces.begin(), kPlaces.end(),
                                   [&](const Place& known) { return known.key == key; });
  if (place != kPlaces.end()) row.*(place->column) = part_.pools.Intern(text);
}

// The text without white space between its tokens: writers differ, shapes repeat.
StringId NodeParser::Compact(JsonValue value) {
  auto raw = value.Raw();
  if (!raw) return StringId::kNone;
  line_.clear();
  bool is_quoted = false;
  bool is_escaped = false;
  for (char c : *raw) {
    bool is_space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!is_space || is_quoted) line_ += c;
    if (c == '"' && !is_escaped) is_quoted = !is_quoted;
    is_escaped = c == '\\' && !is_escaped;
  }
  return part_.pools.Intern(line_);
}

}  // namespace debrief::inputs::execution_trace
