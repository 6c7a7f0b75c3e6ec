// Who may ask for what: one small rule each, in the order in which routes.cc asks them.
//
// The server listens on 127.0.0.1 alone, but a page of any site runs in the same browser. What
// keeps it out: it does not know the token (every address begins with it); a name that it made
// point to 127.0.0.1 is not our Host; its Origin is not ours; and without our leave its script
// cannot read an answer. Other users of the machine do not know the token either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace debrief::serve {

// Only these two: nothing here can change anything.
bool IsMethodAllowed(std::string_view method);

// "127.0.0.1:PORT", "localhost:PORT" or "[::1]:PORT" (which a tunnel may listen on).
bool IsOurHost(std::string_view host, uint16_t port);

// "http://" and one of our hosts. A request without an Origin is not from another site's script.
bool IsOurOrigin(const std::optional<std::string>& origin, uint16_t port);

// 128 bits of the system's randomness as 32 hex digits; nothing when the system has none.
std::optional<std::string> MakeToken();

// Takes as long for a wrong text as for the right one.
bool SameSecret(std::string_view given, std::string_view secret);

// "/TOKEN/rest" -> TOKEN and "rest"; `has_slash` tells "/TOKEN/" from "/TOKEN".
struct SplitPath {
  std::string_view token;
  std::string_view rest;
  bool has_slash = false;
};
SplitPath SplitToken(std::string_view path);

// What comes after the token, decoded once, as a path below the report's folder. Nothing for what
// could lead elsewhere: "..", ".", empty parts, an absolute path, a backslash, a NUL, an escape
// that is broken, an encoded slash.
std::optional<std::string> SafeRelativePath(std::string_view encoded);

// The report and its data. Not run.duckdb, which holds paths and texts that the page does not show.
bool IsServedFile(std::string_view relative);

}  // namespace debrief::serve
