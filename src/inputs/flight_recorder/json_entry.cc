#include "inputs/flight_recorder/json_entry.h"

#include "inputs/flight_recorder/diagnostics.h"

namespace debrief::inputs::flight_recorder {

Status JsonEntryParser::Add(JsonValue value) {
  auto offset = static_cast<int64_t>(offset_ + value.offset());
  Entry entry{.row = rows_.NewOp()};
  bool is_object = value.kind() == JsonKind::kObject;
  if (is_object) {
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
      return AddField(FieldOf(key), field, entry);
    }));
  }
  if (entry.name == StringId::kNone) {
    part_.diagnostics.Add(
        kBadEntry, who_.input,
        {.offset = offset, .detail = is_object ? "no profiling_name" : "not an object"});
    return {};
  }
  bool is_p2p = rows_.Name(entry.name, entry.row);
  if (!entry.says_p2p) entry.row.is_p2p = is_p2p;
  entry.row.thread = rows_.Thread(entry.thread_name, entry.thread_id);
  rows_.ops().Add(entry.row);
  return {};
}

Status JsonEntryParser::AddField(Field field, JsonValue value, Entry& entry) {
  CommOpRow& row = entry.row;
  if (AddNumber(field, value, row)) return {};
  switch (field) {
    case Field::kProfilingName:
      entry.name = Text(value);
      return {};
    case Field::kThreadName:
      entry.thread_name = Text(value);
      return {};
    case Field::kThreadId:
      entry.thread_id = Text(value);
      return {};
    case Field::kIsP2p:
      entry.says_p2p = true;
      row.is_p2p = value.Bool().value_or(false);
      return {};
    case Field::kRetired:
      row.retired = value.Bool().value_or(false);
      return {};
    case Field::kState:
      row.state = Text(value);
      return {};
    default:
      return AddOther(field, value, entry);
  }
}

bool JsonEntryParser::AddNumber(Field field, JsonValue value, CommOpRow& row) {
  auto number = [&] { return value.IntOrText().value_or(kNone64); };
  switch (field) {
    case Field::kRecordId:
      row.record = Narrow(number());
      return true;
    case Field::kPgId:
      row.pg_id = Narrow(number());
      return true;
    case Field::kCollectiveSeq:
    case Field::kSeq:
      row.collective_seq = Narrow(number());
      return true;
    case Field::kP2pSeq:
      row.p2p_seq = Narrow(number());
      return true;
    case Field::kOpId:
      row.op_id = Narrow(number());
      return true;
    case Field::kTimeoutMs:
      row.timeout_ms = Narrow(number());
      return true;
    case Field::kCreatedNs:
      row.created_ns = TimeOrNone(number());
      return true;
    case Field::kCreatedUs:
      row.created_ns = MicrosToNs(number());
      return true;
    case Field::kStartedNs:
      row.started_ns = TimeOrNone(number());
      return true;
    case Field::kCompletedNs:
      row.completed_ns = TimeOrNone(number());
      return true;
    case Field::kDurationMs:
      row.duration_ns = MillisToNs(value.Double().value_or(kNoDouble));
      return true;
    default:
      return false;
  }
}

Status JsonEntryParser::AddOther(Field field, JsonValue value, Entry& entry) {
  CommOpRow& row = entry.row;
  if (field == Field::kProcessGroup) return AddGroup(value, row);
  if (field == Field::kFrames) return AddFrames(value, row);
  if (field == Field::kProcessGroupName) row.group_name = Text(value);
  if (field == Field::kInputSizes) row.input_sizes = Sizes(value);
  if (field == Field::kOutputSizes) row.output_sizes = Sizes(value);
  if (field == Field::kInputDtypes) row.input_dtypes = Dtypes(value);
  if (field == Field::kOutputDtypes) row.output_dtypes = Dtypes(value);
  return {};
}

// ["9", "mesh_tp"]
Status JsonEntryParser::AddGroup(JsonValue value, CommOpRow& row) {
  if (value.kind() != JsonKind::kArray) {
    row.group_name = Text(value);
    return {};
  }
  int position = 0;
  return value.ForEachElement([&](JsonValue text) {
    if (position == 0) row.group_name = Text(text);
    if (position == 1) row.group_desc = Text(text);
    ++position;
  });
}

// PyTorch leaves them out; programs that turn pickles into JSON do not.
Status JsonEntryParser::AddFrames(JsonValue value, CommOpRow& row) {
  if (value.kind() != JsonKind::kArray) return {};
  frames_.clear();
  TRY(value.ForEachElement([&](JsonValue element) -> Status {
    if (element.kind() != JsonKind::kObject) return {};
    Frame frame;
    TRY(element.ForEachField([&](std::string_view key, JsonValue part) {
      if (key == "filename") frame.file = Text(part);
      if (key == "name") frame.function = Text(part);
      if (key == "line") frame.line = LineOf(part.IntOrText().value_or(0));
    }));
    frames_.push_back(part_.pools.AddFrame(frame));
    return {};
  }));
  if (!frames_.empty()) row.stack = part_.pools.AddStack(frames_);
  return {};
}

StringId JsonEntryParser::Text(JsonValue value) {
  auto text = value.String();
  return text ? part_.pools.Intern(*text) : StringId::kNone;
}

// The text with white space as Python prints it, whatever the writer used.
StringId JsonEntryParser::Sizes(JsonValue value) {
  if (value.kind() != JsonKind::kArray) return StringId::kNone;
  auto raw = value.Raw();
  if (!raw) return StringId::kNone;
  line_.clear();
  for (char c : *raw) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    line_ += c;
    if (c == ',') line_ += ' ';
  }
  return part_.pools.Intern(line_);
}

StringId JsonEntryParser::Dtypes(JsonValue value) {
  if (value.kind() != JsonKind::kArray) return Text(value);
  line_.clear();
  bool is_first = true;
  Status status = value.ForEachElement([&](JsonValue type) {
    if (!is_first) line_ += ", ";
    is_first = false;
    line_ += type.String().value_or("");
  });
  return status.ok() ? part_.pools.Intern(line_) : StringId::kNone;
}

}  // namespace debrief::inputs::flight_recorder
