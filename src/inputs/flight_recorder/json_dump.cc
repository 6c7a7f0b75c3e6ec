#include "inputs/flight_recorder/json_dump.h"

#include <fmt/format.h>

#include "inputs/flight_recorder/diagnostics.h"
#include "inputs/flight_recorder/json_entry.h"

namespace debrief::inputs::flight_recorder {

namespace {

Status ReadEntries(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  JsonReader reader;
  TRY(reader.OpenElements(text));
  JsonEntryParser parser(who, offset, part);
  return reader.root().ForEachElement([&](JsonValue entry) { return parser.Add(entry); });
}

// The slow way, for a batch with a broken entry: each entry alone, so that only that one is lost.
void ReadOneByOne(std::string_view text, uint64_t offset, const Identity& who, Part& part) {
  auto batch = MakeMemorySource("[" + std::string(text) + "]");
  auto split = SplitJsonArray(*batch, "", 1);
  if (!split.ok()) return;
  for (ByteRange range : split->batches) {
    uint64_t begin = range.begin - 1;  // the bracket put in front
    Part entry;
    Status status = ReadEntries(text.substr(begin, range.size()), offset + begin, who, entry);
    if (!status.ok()) {
      entry = Part();
      entry.diagnostics.Add(
          kBadEntry, who.input,
          {.offset = static_cast<int64_t>(offset + begin), .detail = status.message()});
    }
    part.Append(std::move(entry));
  }
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
  if (ReadEntries(text, offset, who_, part).ok()) return;
  part = Part();
  ReadOneByOne(text, offset, who_, part);
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
  });
}

// {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}, of old {"0": [0, 1]}
void JsonDump::ReadGroups(JsonValue config) {
  auto read_ranks = [](JsonValue value, std::vector<int64_t>& members) {
    auto text = value.kind() == JsonKind::kArray ? value.Raw() : value.String();
    if (!text || !DumpRows::ParseMembers(*text, members)) members.clear();
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
