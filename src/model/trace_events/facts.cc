#include "model/trace_events/facts.h"

#include <algorithm>

#include "base/json/cursor.h"
#include "tables/timeline_device.h"
#include "tables/timeline_fact.h"
#include "tables/timeline_group.h"

namespace debrief::trace_events {

namespace {

constexpr size_t kMaxFactBytes = 4096;  // of a value; the file has the rest
constexpr int64_t kMaxBaseNs = 4'000'000'000'000'000'000;

// Calls `read` with the one value that `json` is.
template <typename Read>
void WithValue(std::string_view json, Read&& read) {
  JsonReader reader;
  if (!reader.OpenElements(json).ok()) return;
  (void)reader.root().ForEachElement([&](JsonValue value) { read(value); });
}

int64_t IntIn(std::string_view json) {
  int64_t number = kNone64;
  WithValue(json, [&](JsonValue value) { number = value.IntOrText().value_or(kNone64); });
  return number;
}

// Kineto writes 1 or true.
bool FlagIn(std::string_view json) { return json.starts_with("1") || json.starts_with("true"); }

void ReadDistributed(std::string_view json, TraceFacts& facts) {
  WithValue(json, [&](JsonValue value) {
    (void)value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "backend") facts.backend = field.String().value_or("");
      if (key == "world_size") facts.world_size = field.Int().value_or(kNone64);
    });
  });
}

struct FactRows {
  const Identity& who;
  Part& part;

  template <typename Row>
  Row New() {
    return Part::RowOf<Row>(who);
  }

  void AddDevice(JsonValue device) {
    auto row = New<TimelineDeviceRow>();
    std::string major, minor;
    (void)device.ForEachField([&](std::string_view key, JsonValue value) {
      auto number = [&] { return value.Int().value_or(kNone64); };
      if (key == "id") row.device = static_cast<int32_t>(std::clamp<int64_t>(number(), 0, 1 << 20));
      if (key == "name") row.name = part.pools.Intern(value.String().value_or(""));
      if (key == "totalGlobalMem") row.memory_bytes = number();
      if (key == "numSms")
        row.multiprocessors = static_cast<int32_t>(std::clamp<int64_t>(number(), 0, 1 << 20));
      if (key == "computeMajor") major = std::to_string(number());
      if (key == "computeMinor") minor = std::to_string(number());
    });
    if (!major.empty()) row.compute_capability = part.pools.Intern(major + "." + minor);
    part.tables.Edit<TimelineDeviceTable>().Add(row);
  }

  void AddGroup(JsonValue group) {
    auto row = New<TimelineGroupRow>();
    (void)group.ForEachField([&](std::string_view key, JsonValue value) {
      auto text = [&] { return part.pools.Intern(value.String().value_or("")); };
      if (key == "pg_name") row.name = text();
      if (key == "pg_desc") row.description = text();
      if (key == "backend_config") row.backend = text();
      if (key == "ranks") row.members = MembersOf(value);
    });
    part.tables.Edit<TimelineGroupTable>().Add(row);
  }

  ListId MembersOf(JsonValue ranks) {
    std::vector<int64_t> members;
    (void)ranks.ForEachElement([&](JsonValue rank) {
      if (auto number = rank.Int()) members.push_back(*number);
    });
    std::sort(members.begin(), members.end());
    return part.pools.lists.Intern(members);
  }

  void AddGroups(JsonValue distributed) {
    (void)distributed.ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "pg_config") (void)value.ForEachElement([&](JsonValue group) { AddGroup(group); });
    });
  }

  void AddFact(const JsonMember& member) {
    auto row = New<TimelineFactRow>();
    row.key = part.pools.Intern(member.key);
    std::string_view value = member.value;
    if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
    row.value = part.pools.Intern(value.substr(0, kMaxFactBytes));
    part.tables.Edit<TimelineFactTable>().Add(row);
  }
};

}  // namespace

TraceFacts ReadFacts(std::span<const JsonMember> members) {
  TraceFacts facts;
  for (const auto& [key, value] : members) {
    if (key == "schemaVersion" || key == "deviceProperties" || key == "distributedInfo")
      facts.is_kineto = true;
    if (key == "distributedInfo") ReadDistributed(value, facts);
    if (key == "record_shapes") facts.has_shapes = FlagIn(value);
    if (key == "with_stack") facts.has_stacks = FlagIn(value);
    if (key == "profile_memory") facts.has_memory = FlagIn(value);
    if (key == "baseTimeNanoseconds") {
      int64_t base = IntIn(value);
      if (base >= 0 && base <= kMaxBaseNs) facts.base_ns = base;
    }
  }
  return facts;
}

void AddFactRows(std::span<const JsonMember> members, const Identity& who, Part& part) {
  FactRows rows{who, part};
  for (const JsonMember& member : members) {
    if (member.key == "deviceProperties") {
      WithValue(member.value, [&](JsonValue devices) {
        (void)devices.ForEachElement([&](JsonValue device) { rows.AddDevice(device); });
      });
    } else if (member.key == "distributedInfo") {
      WithValue(member.value, [&](JsonValue info) { rows.AddGroups(info); });
    } else {
      rows.AddFact(member);
    }
  }
}

}  // namespace debrief::trace_events
