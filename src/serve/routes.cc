#include "serve/routes.h"

#include <fmt/format.h>

#include "serve/guards.h"

namespace debrief::serve {

namespace {

constexpr std::string_view kTables = "api/tables";
constexpr std::string_view kQuery = "api/query";

}  // namespace

std::optional<Response> Routes::Refuse(const Request& request) const {
  if (!IsMethodAllowed(request.method)) {
    Response response = TextResponse(405, "This server only reads: GET and HEAD.");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  if (!IsOurHost(request.host, port_))
    return TextResponse(421, "This server answers as 127.0.0.1 alone.");
  if (!IsOurOrigin(request.origin, port_)) return TextResponse(403, "Forbidden.");
  if (!SameSecret(SplitToken(request.path).token, token_)) return TextResponse(403, "Forbidden.");
  return std::nullopt;
}

bool Routes::IsSlow(const Request& request) const {
  std::string_view rest = SplitToken(request.path).rest;
  return (rest == kTables || rest == kQuery) && !Refuse(request);
}

Response Routes::Answer(const Request& request, CancelToken& cancel) {
  if (auto refusal = Refuse(request)) return std::move(*refusal);
  SplitPath path = SplitToken(request.path);
  if (!path.has_slash) {
    // Relative addresses of the page need the slash.
    Response response = TextResponse(308, "The report is at this address with a / at its end.");
    response.headers.emplace_back("Location", fmt::format("/{}/", token_));
    return response;
  }
  if (path.rest == kTables) return store_.Tables(cancel);
  if (path.rest == kQuery) return store_.Query(request, cancel);
  std::optional<std::string> relative = SafeRelativePath(path.rest);
  if (!relative) return TextResponse(404, "There is no such file in this report.");
  return files_.Answer(*relative, request);
}

}  // namespace debrief::serve
