// The tools that a client may call: names, arguments and what they are for. tools/list, the check
// of arguments and docs/mcp.md say the same, since it stands here alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/json/writer.h"
#include "base/status.h"
#include "mcp/message.h"

namespace debrief::mcp {

struct Parameter {
  std::string_view name;
  bool is_number = false;  // else a string
  bool is_required = false;
  std::string_view doc;
};

struct Tool {
  std::string_view name;
  std::string_view title;
  std::string_view doc;
  std::span<const Parameter> parameters;
};

std::span<const Tool> AllTools();
// Null when there is none of that name.
const Tool* FindTool(std::string_view name);

// The arguments of a call that passed the check.
struct Arguments {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, int64_t, std::less<>> numbers;

  // Empty when it was not given.
  std::string Text(std::string_view name) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  }
  int64_t Number(std::string_view name, int64_t otherwise) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
};

// params.arguments of a call. kUsage, with a sentence that says how to call it, when one is
// missing, unknown or of another type.
Result<Arguments> ReadArguments(const Tool& tool, const Message& message);

// The fields of the tool as tools/list has them: inside of an object that is open.
void WriteTool(const Tool& tool, JsonWriter& json);

}  // namespace debrief::mcp
