#include "mcp/message.h"

#include "base/bytes/source.h"
#include "base/text/escape.h"

namespace debrief::mcp {

namespace {

constexpr char kJoint = '\n';

std::string Joined(Message::Path path) {
  std::string joined;
  for (const std::string_view key : path) {
    if (!joined.empty()) joined += kJoint;
    joined += key;
  }
  return joined;
}

std::string Below(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + kJoint + std::string(key);
}

Status Broken() { return Status(Code::kInvalid, "a value is not JSON"); }

// What a scalar says; nothing when it is none of JSON's.
std::optional<MessageValue> ReadScalar(JsonValue value) {
  MessageValue read{.kind = value.kind()};
  if (read.kind == JsonKind::kString) {
    const auto text = value.String();
    if (!text) return std::nullopt;
    read.text = *text;
  } else if (read.kind == JsonKind::kNumber) {
    const auto raw = value.Raw();
    if (!raw || !value.Double()) return std::nullopt;
    read.text = *raw;
    read.text.erase(read.text.find_last_not_of(" \t\r\n") + 1);
  } else if (read.kind == JsonKind::kBool) {
    if (!value.Bool()) return std::nullopt;
  } else if (read.kind == JsonKind::kNull) {
    const auto raw = value.Raw();
    if (!raw || !raw->starts_with("null")) return std::nullopt;
  } else {
    return std::nullopt;
  }
  return read;
}

}  // namespace

Result<Message> Message::Parse(std::string_view line) {
  JsonReader reader;
  TRY(reader.OpenCopy(line));
  Message message;
  if (reader.root().kind() != JsonKind::kObject)
    return Status(Code::kInvalid, "a message is one JSON object; batches are not supported");
  TRY(message.Add(reader.root(), "", 0));
  return message;
}

Status Message::Add(JsonValue value, const std::string& path, size_t depth) {
  if (values_.size() > kMaxValues) return Status(Code::kLimit, "the message has too many values");
  const bool is_kept = depth > 0 && depth <= kMaxPath;
  const JsonKind kind = value.kind();
  if (is_kept && (kind == JsonKind::kObject || kind == JsonKind::kArray))
    values_[path] = {.kind = kind, .text = {}};
  if (kind == JsonKind::kObject) {
    return value.ForEachField([&](std::string_view key, JsonValue field) {
      return Add(field, depth < kMaxPath ? debrief::mcp::Below(path, key) : path, depth + 1);
    });
  }
  if (kind == JsonKind::kArray) {
    return value.ForEachElement(
        [&](JsonValue element) { return Add(element, path, kMaxPath + 1); });
  }
  std::optional<MessageValue> scalar = ReadScalar(value);
  if (!scalar) return Broken();
  if (is_kept) values_[path] = std::move(*scalar);
  return {};
}

const MessageValue* Message::Find(Path path) const {
  const auto found = values_.find(Joined(path));
  return found == values_.end() ? nullptr : &found->second;
}

const std::string* Message::Text(Path path) const {
  const MessageValue* value = Find(path);
  return value != nullptr && value->kind == JsonKind::kString ? &value->text : nullptr;
}

std::map<std::string, const MessageValue*> Message::Below(Path path) const {
  std::map<std::string, const MessageValue*> found;
  const std::string start = Joined(path) + kJoint;
  for (auto at = values_.lower_bound(start); at != values_.end() && at->first.starts_with(start);
       ++at) {
    std::string key = at->first.substr(start.size());
    if (key.find(kJoint) == std::string::npos) found.emplace(std::move(key), &at->second);
  }
  return found;
}

std::optional<std::string> Message::Id() const {
  const MessageValue* id = Find({"id"});
  if (id == nullptr || id->text.size() > kMaxIdBytes) return std::nullopt;
  if (id->kind == JsonKind::kNumber) return id->text;
  if (id->kind != JsonKind::kString) return std::nullopt;
  std::string json;
  AppendJsonString(json, id->text);
  return json;
}

}  // namespace debrief::mcp
