#include "inputs/flight_recorder/json_dump.h"

#include <fmt/format.h>

#include <utility>

#include "inputs/flight_recorder/diagnostics.h"
#include "inputs/flight_recorder/fields.h"
#include "inputs/json_elements.h"

namespace debrief::inputs::flight_recorder {

namespace {

// One entry: from JSON to a row.
class JsonEntryParser {
 public:
  // Rows and diagnostics go into `part`; `offset` is where the batch begins in the source.
  JsonEntryParser(const Identity& who, uint64_t offset, Part& part)
      : who_(who), offset_(offset), part_(part), rows_(who, part) {}

  // A Status only when the text is broken, and nothing more can be read of this batch.
  Status Add(JsonValue entry);

 private:
  struct Entry {
    CommOpRow row;
    StringId name = StringId::kNone;
    StringId thread_name = StringId::kNone;
    StringId thread_id = StringId::kNone;
  };

  Status AddField(Field field, JsonValue value, Entry& entry);
  bool AddNumber(Field field, JsonValue value, CommOpRow& row);
  Status AddOther(Field field, JsonValue value, Entry& entry);
  Status AddGroup(JsonValue value, CommOpRow& row);
  Status AddFrames(JsonValue value, CommOpRow& row);
  StringId Text(JsonValue value);
  StringId Sizes(JsonValue value);
  StringId Dtypes(JsonValue value);

  Identity who_;
  uint64_t offset_;
  Part& part_;
  DumpRows rows_;
  std::string line_;
  std::vector<FrameId> frames_;
};

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
  if (is_p2p) entry.row.is_p2p = 1;  // torchcomms says false of all
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
  static constexpr std::pair<Field, int32_t CommOpRow::*> kNumbers[] = {
      {Field::kRecordId, &CommOpRow::record},
      {Field::kPgId, &CommOpRow::pg_id},
      {Field::kCollectiveSeq, &CommOpRow::collective_seq},
      {Field::kSeq, &CommOpRow::collective_seq},
      {Field::kP2pSeq, &CommOpRow::p2p_seq},
      {Field::kOpId, &CommOpRow::op_id},
      {Field::kTimeoutMs, &CommOpRow::timeout_ms}};
  static constexpr std::pair<Field, int64_t CommOpRow::*> kTimes[] = {
      {Field::kCreatedNs, &CommOpRow::created_ns},
      {Field::kStartedNs, &CommOpRow::started_ns},
      {Field::kCompletedNs, &CommOpRow::completed_ns}};
  auto number = [&] { return value.IntOrText().value_or(kNone64); };
  for (auto [known, member] : kNumbers) {
    if (known == field) return row.*member = Narrow(number()), true;
  }
  for (auto [known, member] : kTimes) {
    if (known == field) return row.*member = TimeOrNone(number()), true;
  }
  if (field == Field::kCreatedUs) row.created_ns = MicrosToNs(number());
  if (field == Field::kDurationMs) row.duration_ns = MillisToNs(value.Double().value_or(kNoDouble));
  return field == Field::kCreatedUs || field == Field::kDurationMs;
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

Status ReadEntries(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  JsonReader reader;
  TRY(reader.OpenElements(text));
  JsonEntryParser parser(who, offset, part);
  return reader.root().ForEachElement([&](JsonValue entry) { return parser.Add(entry); });
}

}  // namespace

Result<std::vector<ByteRange>> JsonDump::Split(const Source& source, uint64_t chunk_bytes) {
  constexpr size_t kEnoughForSpace = 4096;
  ASSIGN_OR_RETURN(ByteView head, source.View(0, kEnoughForSpace));
  size_t first = head.text().find_first_not_of(" \t\r\n");
  bool is_list = first != std::string_view::npos && head.text()[first] == '[';
  ASSIGN_OR_RETURN(split_, SplitJsonArray(source, is_list ? "" : "entries", chunk_bytes));
  for (const auto& [key, range] : split_.others) {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    ReadOther(key, bytes.text());
  }
  return split_.batches;
}

void JsonDump::Read(std::string_view text, uint64_t offset, Part& part) const {
  auto read = [this](std::string_view entries, uint64_t at, Part& read_part) {
    return ReadEntries(entries, at, who_, read_part);
  };
  ReadBatch(text, offset, read, kBadEntry, who_.input, part);
}

void JsonDump::Finish(Part& whole) {
  DumpRows rows(who_, whole);
  for (const Group& group : groups_) {
    StringId description =
        group.has_description ? whole.pools.Intern(group.description) : StringId::kNone;
    rows.AddGroup(whole.pools.Intern(group.name), description, group.members);
  }
  for (const GroupStatus& status : statuses_)
    rows.AddStatus(status.pg_id, status.enqueued, status.started, status.completed);
  for (const CommState& state : comm_states_) state.AddTo(who_, whole);
  header_.whole = split_.document_closed;
  if (!header_.whole) {
    whole.diagnostics.Add(kTruncated, who_.input,
                          {.offset = static_cast<int64_t>(split_.array_end),
                           .detail = fmt::format("entries kept: {}", split_.elements)});
  }
  FinishDump(whole, who_, header_);
}

void JsonDump::ReadOther(std::string_view key, std::string_view text) {
  JsonReader reader;
  if (!reader.OpenElements(text).ok()) return;
  (void)reader.root().ForEachElement([&](JsonValue value) {
    if (key == "version") header_.version = value.String().value_or("");
    if (key == "nccl_version" || key == "comm_lib_version")
      header_.library = value.String().value_or("");
    if (key == "pg_config") ReadGroups(value);
    if (key == "pg_status") ReadStatuses(value);
    if (key == "nccl_comm_state") ReadCommStates(value);
  });
}

// {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, of old {"0": [0, 1]}
void JsonDump::ReadGroups(JsonValue config) {
  auto read_ranks = [](JsonValue value, MemberList& members) {
    auto text = value.kind() == JsonKind::kArray ? value.Raw() : value.String();
    members = MemberList::OfText(text.value_or(""));
  };
  (void)config.ForEachField([&](std::string_view key, JsonValue value) {
    Group group;
    group.name = key;
    if (value.kind() == JsonKind::kArray) {
      read_ranks(value, group.members);
    } else {
      (void)value.ForEachField([&](std::string_view field, JsonValue part) {
        bool is_text = part.kind() == JsonKind::kString;
        if (field == "name" && is_text) group.name = part.String().value_or("");
        if (field == "desc" && is_text) group.description = part.String().value_or("");
        if (field == "desc" && is_text) group.has_description = true;
        if (field == "ranks") read_ranks(part, group.members);
      });
    }
    groups_.push_back(std::move(group));
  });
}

void JsonDump::ReadCommStates(JsonValue states) {
  if (states.kind() != JsonKind::kObject) return;
  (void)states.ForEachField([&](std::string_view comm, JsonValue value) -> Status {
    if (value.kind() != JsonKind::kObject) return {};
    CommState& state = comm_states_.emplace_back(comm);
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      if (const auto text = field.String()) state.Add(key, *text);
    });
  });
}

void JsonDump::ReadStatuses(JsonValue status) {
  (void)status.ForEachField([&](std::string_view key, JsonValue value) {
    GroupStatus group{.pg_id = NumberOf(key)};
    (void)value.ForEachField([&](std::string_view field, JsonValue number) {
      int64_t sequence = number.IntOrText().value_or(kNone64);
      if (field == "last_enqueued_collective") group.enqueued = sequence;
      if (field == "last_started_collective") group.started = sequence;
      if (field == "last_completed_collective") group.completed = sequence;
    });
    statuses_.push_back(group);
  });
}

}  // namespace debrief::inputs::flight_recorder
