#include "serve/guards.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>

#include "serve/http.h"

namespace debrief::serve {

namespace {

constexpr std::array<std::string_view, 3> kHosts = {"127.0.0.1", "localhost", "[::1]"};
constexpr std::string_view kScheme = "http://";
constexpr std::string_view kData = "report_data/";

bool IsSafePart(std::string_view part) { return !part.empty() && part != "." && part != ".."; }

bool HasSafeParts(std::string_view path) {
  while (true) {
    size_t slash = path.find('/');
    if (!IsSafePart(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// "%2f" in any case: it would name a folder to some and a letter to others.
bool HasEncodedSlash(std::string_view encoded) {
  for (size_t at = encoded.find("%2"); at != std::string_view::npos;
       at = encoded.find("%2", at + 1)) {
    char next = at + 2 < encoded.size() ? encoded[at + 2] : ' ';
    if (next == 'f' || next == 'F') return true;
  }
  return false;
}

}  // namespace

bool IsMethodAllowed(std::string_view method) { return method == "GET" || method == "HEAD"; }

bool IsOurHost(std::string_view host, uint16_t port) {
  return std::any_of(kHosts.begin(), kHosts.end(), [&](std::string_view name) {
    return host == fmt::format("{}:{}", name, port) || (port == 80 && host == name);
  });
}

bool IsOurOrigin(const std::optional<std::string>& origin, uint16_t port) {
  if (!origin) return true;
  return origin->starts_with(kScheme) &&
         IsOurHost(std::string_view(*origin).substr(kScheme.size()), port);
}

std::optional<std::string> MakeToken() {
  std::array<uint8_t, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return std::nullopt;
  std::string token;
  for (uint8_t byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool SameSecret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < secret.size(); ++i)
    difference |= static_cast<unsigned>(given[i] ^ secret[i]) & 0xFFU;
  return difference == 0;
}

SplitPath SplitToken(std::string_view path) {
  if (path.empty() || path.front() != '/') return {};
  path.remove_prefix(1);
  size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}, false};
  return {path.substr(0, slash), path.substr(slash + 1), true};
}

std::optional<std::string> SafeRelativePath(std::string_view encoded) {
  if (encoded.empty()) return "index.html";
  if (HasEncodedSlash(encoded)) return std::nullopt;
  std::optional<std::string> path = PercentDecode(encoded, false);
  if (!path || path->find('\\') != std::string_view::npos ||
      path->find('\0') != std::string_view::npos)
    return std::nullopt;
  return HasSafeParts(*path) ? path : std::nullopt;
}

bool IsServedFile(std::string_view relative) {
  if (relative == "index.html" || relative == "findings.json") return true;
  return relative.starts_with(kData) && relative.size() > kData.size();
}

}  // namespace debrief::serve
