#include "accel/ingest/metadata.h"

#include <algorithm>

#include "base/json/cursor.h"

namespace debrief::accel {

namespace {

// Calls `use` with the value of a JSON text; what is no container or broken is left out.
template <typename Use>
void WithJson(const std::string& text, Use&& use) {
  JsonReader reader;
  if (reader.OpenCopy(text).ok()) use(reader.root());
}

DeviceEntry ReadDevice(JsonValue json) {
  DeviceEntry entry;
  Status ignored = json.ForEachField([&](std::string_view key, JsonValue value) {
    entry.members.push_back({std::string(key), std::string(value.Raw().value_or("null"))});
  });
  return entry;
}

std::vector<DeviceEntry> ReadDevices(const std::string& text) {
  std::vector<DeviceEntry> devices;
  WithJson(text, [&](JsonValue root) {
    Status ignored =
        root.ForEachElement([&](JsonValue element) { devices.push_back(ReadDevice(element)); });
  });
  return devices;
}

// Calls `use` with one field of a JSON object.
template <typename Use>
void WithField(const std::string& text, std::string_view key, Use&& use) {
  WithJson(text, [&](JsonValue root) {
    Status ignored = root.ForEachField([&](std::string_view name, JsonValue value) {
      if (name == key) use(value);
    });
  });
}

bool IsOwnName(std::optional<std::string_view> application) {
  return application && (application->find("Acelyzer") != std::string_view::npos ||
                         application->find("debrief accel") != std::string_view::npos);
}

const std::string* Find(const JsonMembers& members, std::string_view key) {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

FileFacts FactsOf(const JsonMembers& members) {
  FileFacts facts;
  facts.has_schema = Find(members, "schemaVersion") != nullptr;
  if (const std::string* text = Find(members, "deviceProperties")) {
    facts.has_device_properties = true;
    facts.devices = ReadDevices(*text);
  }
  if (const std::string* text = Find(members, "distributedInfo"))
    WithField(*text, "rank", [&](JsonValue rank) { facts.rank = rank.IntOrText(); });
  if (const std::string* text = Find(members, "otherData"))
    WithField(*text, "Application",
              [&](JsonValue name) { facts.is_own_output = IsOwnName(name.String()); });
  return facts;
}

void Metadata::AddMembers(const JsonMembers& more) {
  for (const auto& [key, value] : more) {
    if (key == "deviceProperties" || key == "distributedInfo" || key == "otherData") continue;
    auto old = std::find_if(members.begin(), members.end(),
                            [&](const auto& member) { return member.key == key; });
    if (old == members.end()) {
      members.push_back({key, value});
    } else {
      old->value = value;
    }
  }
}

void Metadata::AddDevices(const std::vector<DeviceEntry>& more) {
  for (const DeviceEntry& entry : more) {
    const std::string* id = Find(entry.members, "id");
    const bool is_known =
        id != nullptr && std::any_of(devices.begin(), devices.end(), [&](const DeviceEntry& old) {
          const std::string* old_id = Find(old.members, "id");
          return old_id != nullptr && *old_id == *id;
        });
    if (!is_known) devices.push_back(entry);
  }
}

}  // namespace debrief::accel
