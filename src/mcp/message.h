// One line of a client as a JSON-RPC 2.0 message.
//
// The values of a message are kept flat, by the keys that lead to them: {"params", "arguments",
// "sql"} is the statement of a query. What lies deeper than kMaxPath keys is checked and forgotten;
// nothing that the protocol or a tool asks for is there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/cursor.h"
#include "base/status.h"

namespace debrief::mcp {

inline constexpr size_t kMaxPath = 4;
inline constexpr size_t kMaxValues = 2000;   // of a message that are kept
inline constexpr size_t kMaxIdBytes = 1000;  // an id is echoed: it must not make an answer large

struct MessageValue {
  JsonKind kind = JsonKind::kNull;
  std::string text;  // a string unescaped, a number as it stands; of others empty
};

class Message {
 public:
  using Path = std::initializer_list<std::string_view>;

  // kInvalid when the line is no JSON object (an array of messages is none), kLimit when it is
  // nested too deeply or has too many values.
  static Result<Message> Parse(std::string_view line);

  // Null when there is none.
  const MessageValue* Find(Path path) const;
  // Null when there is none, or when it is no string.
  const std::string* Text(Path path) const;
  // The keys below an object, with their values.
  std::map<std::string, const MessageValue*> Below(Path path) const;

  bool HasId() const { return Find({"id"}) != nullptr; }
  // The id as JSON, for the answer. Nothing when it is neither a string nor a number, or too long.
  std::optional<std::string> Id() const;

 private:
  Status Add(JsonValue value, const std::string& path, size_t depth);

  std::map<std::string, MessageValue, std::less<>> values_;  // keys joined by line ends
};

}  // namespace debrief::mcp
