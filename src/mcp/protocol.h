// The Model Context Protocol as a server speaks it over stdio, without its work: lines in, lines
// out.
//
// Two revisions beside each other. A request that names its protocol version in _meta is answered
// by 2026-07-28: every request stands alone, server/discover says what there is, results have a
// resultType. `initialize` selects 2025-11-25 for requests without that.
//
//   Reaction reaction = protocol.Take(line);   // an answer now, or work to do
//   std::string answer = protocol.Finish(*reaction.work, outcome);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "mcp/message.h"
#include "mcp/tools.h"

namespace debrief::mcp {

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLegacyVersion = "2025-11-25";
inline constexpr size_t kMaxMessageBytes = 4 << 20;

// What takes long, or may fail of what it reads.
struct Work {
  enum class Kind : unsigned char { kTool, kListResources, kReadResource };
  Kind kind = Kind::kTool;
  std::string id;  // as JSON
  bool is_modern = false;
  std::string tool;
  Arguments arguments;
  std::string uri;  // of kReadResource
};

struct Outcome {
  // A tool: an object. kListResources: an array of resources. kReadResource: any JSON, the text of
  // the resource. One line.
  std::string json;
  std::string error;  // why there is none; a sentence for the model that called
};

struct Reaction {
  std::string answer;  // without a line end; empty: none
  std::optional<Work> work;
  std::string cancelled;  // the id, as JSON, of work that nobody waits for any more
};

class Protocol {
 public:
  // One line of the client.
  Reaction Take(std::string_view line);
  // The answer to a line of more than kMaxMessageBytes.
  static std::string TooLong();
  static std::string Finish(const Work& work, const Outcome& outcome);
  // The answers to requests that last as long as the server does.
  std::vector<std::string> Close();

 private:
  Reaction Request(const Message& message, const std::string& id);
  Reaction Modern(const Message& message, const std::string& id, const std::string& method);
  Reaction Legacy(const Message& message, const std::string& id, const std::string& method);
  Reaction Initialize(const Message& message, const std::string& id);
  Reaction Listen(const std::string& id);
  Reaction Notification(const Message& message);

  bool is_initialized_ = false;
  std::vector<std::string> subscriptions_;  // ids
};

}  // namespace debrief::mcp
