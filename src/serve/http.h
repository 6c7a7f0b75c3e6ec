// As much of HTTP/1.1 as a page and its data need: requests without a body, answers of a known
// length.
//
//   GET /TOKEN/api/tables?x=1 HTTP/1.1\r\n      ParseRequest() reads up to the empty line
//   Host: 127.0.0.1:8000\r\n
//   \r\n
//
// Anything that two readers could understand differently is refused: two Host lines, a line that
// goes on in the next one, a body. The bytes of a request's head are bounded (kMaxHeadBytes), so is
// what a connection can make us hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/unique_fd.h"

namespace debrief::serve {

// SQL travels in the address.
inline constexpr size_t kMaxHeadBytes = 64 << 10;

struct Request {
  std::string method;
  std::string path;   // of the target up to '?', still encoded
  std::string query;  // after '?', still encoded
  std::string host;
  std::optional<std::string> origin;
  std::optional<std::string> range;
  bool keep_alive = true;
  bool has_body = false;
};

enum class Parsed : uint8_t { kIncomplete, kBad, kDone };

// Reads the head of a request from the front of `bytes`; `used` is its length when it is complete.
Parsed ParseRequest(std::string_view bytes, Request& request, size_t& used);

struct Response {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  // Instead of `body`: `length` bytes of a file from `offset` on.
  UniqueFd file;
  int64_t offset = 0;
  int64_t length = 0;

  int64_t BodyBytes() const { return file.valid() ? length : static_cast<int64_t>(body.size()); }
};

// An answer of one line of text.
Response TextResponse(int status, std::string_view text);

// Status line and headers, with those that every answer has.
std::string HeadOf(const Response& response, bool keep_alive);

// "%41" -> "A"; nothing when an escape is broken. `plus`: whether + stands for a blank.
std::optional<std::string> PercentDecode(std::string_view text, bool plus);

// The value of `name` in "a=1&b=2", decoded; nothing when it is not there or broken.
std::optional<std::string> QueryValue(std::string_view query, std::string_view name);

// "bytes=0-99" of a file of `size` bytes -> {first, length}. Nothing: no such range.
struct ByteRange {
  int64_t first = 0;
  int64_t length = 0;
};
enum class RangeKind : uint8_t { kWhole, kPart, kUnsatisfiable };
// A form that we do not serve (several ranges, other units) asks for the whole, as HTTP allows.
RangeKind ParseRange(std::string_view text, int64_t size, ByteRange& range);

}  // namespace debrief::serve
