#include "serve/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief::serve {

namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool IsControl(char c) { return static_cast<uint8_t>(c) < 0x20 || c == 0x7F; }

// "GET /path?query HTTP/1.1"
bool ReadRequestLine(std::string_view line, Request& request) {
  size_t first = line.find(' ');
  size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || first == 0) return false;
  std::string_view target = line.substr(first + 1, last - first - 1);
  std::string_view version = line.substr(last + 1);
  if (target.empty() || target.front() != '/' || target.find(' ') != std::string_view::npos)
    return false;
  if (std::any_of(target.begin(), target.end(), IsControl)) return false;
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return false;
  request.keep_alive = version == "HTTP/1.1";
  request.method = line.substr(0, first);
  size_t question = target.find('?');
  request.path = target.substr(0, question);
  request.query = question == std::string_view::npos ? "" : target.substr(question + 1);
  return true;
}

// One header; false when it makes the request ambiguous.
bool ReadHeader(std::string_view line, Request& request) {
  size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  std::string_view raw = line.substr(0, colon);
  if (raw.find_first_of(" \t") != std::string_view::npos) return false;
  std::string name = Lower(raw);
  std::string value(Trimmed(line.substr(colon + 1), " \t"));
  if (name == "host") {
    if (!request.host.empty()) return false;
    request.host = value;
  } else if (name == "origin") {
    if (request.origin) return false;
    request.origin = value;
  } else if (name == "range") {
    request.range = value;
  } else if (name == "connection") {
    if (Lower(value).find("close") != std::string::npos) request.keep_alive = false;
  } else if (name == "transfer-encoding" || (name == "content-length" && value != "0")) {
    request.has_body = true;
  }
  return true;
}

bool ReadHead(std::string_view head, Request& request) {
  bool is_first = true;
  while (!head.empty()) {
    size_t end = std::min(head.find("\r\n"), head.size());
    std::string_view line = head.substr(0, end);
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) return false;
    if (!(is_first ? ReadRequestLine(line, request) : ReadHeader(line, request))) return false;
    is_first = false;
    head.remove_prefix(std::min(head.size(), end + 2));
  }
  return !is_first;
}

std::string_view ReasonOf(int status) {
  constexpr std::pair<int, std::string_view> kReasons[] = {
      {200, "OK"},
      {206, "Partial Content"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {416, "Range Not Satisfiable"},
      {421, "Misdirected Request"},
      {431, "Request Header Fields Too Large"}};
  for (const auto& [known, reason] : kReasons)
    if (known == status) return reason;
  return "Internal Server Error";
}

bool ReadNumber(std::string_view text, int64_t& number) {
  const std::optional<int64_t> read = ParseNumber<int64_t>(text);
  if (read) number = *read;
  return read && *read >= 0;
}

}  // namespace

Parsed ParseRequest(std::string_view bytes, Request& request, size_t& used) {
  size_t end = bytes.find("\r\n\r\n");
  if (end == std::string_view::npos)
    return bytes.size() > kMaxHeadBytes ? Parsed::kBad : Parsed::kIncomplete;
  if (end > kMaxHeadBytes) return Parsed::kBad;
  used = end + 4;
  request = {};
  return ReadHead(bytes.substr(0, end), request) ? Parsed::kDone : Parsed::kBad;
}

Response TextResponse(int status, std::string_view text) {
  Response response;
  response.status = status;
  response.body = fmt::format("{}\n", text);
  return response;
}

std::string HeadOf(const Response& response, bool keep_alive) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", response.status,
                  ReasonOf(response.status), response.type, response.BodyBytes());
  for (const auto& [name, value] : response.headers)
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  head +=
      "X-Content-Type-Options: nosniff\r\n"
      "Cache-Control: no-store\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n";
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return head;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += plus && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::optional<uint32_t> byte = ParseHex(text.substr(i + 1), 2);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

std::optional<std::string> QueryValue(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    return PercentDecode(pair.substr(std::min(pair.size(), equals + 1)), true);
  }
  return std::nullopt;
}

RangeKind ParseRange(std::string_view text, int64_t size, ByteRange& range) {
  constexpr std::string_view kUnit = "bytes=";
  size_t dash = text.find('-');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos ||
      text.find(',') != std::string_view::npos)
    return RangeKind::kWhole;
  std::string_view from = text.substr(kUnit.size(), dash - kUnit.size());
  std::string_view to = text.substr(dash + 1);
  int64_t first = 0;
  int64_t last = size - 1;
  if (from.empty()) {  // the last N bytes
    int64_t count = 0;
    if (!ReadNumber(to, count)) return RangeKind::kWhole;
    first = std::max<int64_t>(0, size - count);
    if (count == 0) return RangeKind::kUnsatisfiable;
  } else if (!ReadNumber(from, first) || (!to.empty() && !ReadNumber(to, last)) || last < 0) {
    return size == 0 ? RangeKind::kUnsatisfiable : RangeKind::kWhole;
  } else if (!to.empty() && last < first) {
    return RangeKind::kWhole;
  }
  last = std::min(last, size - 1);
  if (first > last) return RangeKind::kUnsatisfiable;
  range = {first, last - first + 1};
  return RangeKind::kPart;
}

}  // namespace debrief::serve
