#include "serve/routes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "serve/guards.h"

namespace debrief::serve {

namespace {

Response NotFound() { return TextResponse(404, "There is no such file in this report."); }

// Where an open file really lies. Asked after opening: what the name leads to may change, the file
// that we hold does not.
std::optional<std::string> RealPathOf(int file) {
  std::array<char, PATH_MAX> path;
  ssize_t length =
      readlink(fmt::format("/proc/self/fd/{}", file).c_str(), path.data(), path.size());
  if (length <= 0 || static_cast<size_t>(length) == path.size()) return std::nullopt;
  return std::string(path.data(), static_cast<size_t>(length));
}

bool IsServedPath(const std::string& folder, int file) {
  std::optional<std::string> path = RealPathOf(file);
  if (!path) return false;
  std::string start = folder.ends_with('/') ? folder : folder + "/";
  return path->starts_with(start) && IsServedFile(std::string_view(*path).substr(start.size()));
}

// The whole file, or the part that was asked for.
void ChooseRange(const Request& request, int64_t size, Response& response) {
  ByteRange range{0, size};
  RangeKind kind = request.range ? ParseRange(*request.range, size, range) : RangeKind::kWhole;
  if (kind == RangeKind::kUnsatisfiable) {
    response = TextResponse(416, "There are no such bytes.");
    response.headers.emplace_back("Content-Range", fmt::format("bytes */{}", size));
    return;
  }
  response.headers.emplace_back("Accept-Ranges", "bytes");
  if (kind == RangeKind::kPart) {
    response.status = 206;
    response.headers.emplace_back(
        "Content-Range",
        fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, size));
  }
  response.offset = range.first;
  response.length = range.length;
}

}  // namespace

Result<ReportFiles> ReportFiles::Open(const std::string& folder) {
  UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid() || faccessat(opened.get(), "index.html", R_OK, 0) != 0) {
    return Status(Code::kNotFound, fmt::format("{} is not a report: it has no index.html", folder))
        .Remedy("Name a folder that debrief wrote, for example debrief_out.");
  }
  std::optional<std::string> path = RealPathOf(opened.get());
  if (!path) return Status(Code::kIo, fmt::format("cannot tell where {} lies", folder));
  return ReportFiles(std::move(opened), std::move(*path));
}

Response ReportFiles::Answer(const std::string& relative, const Request& request) const {
  if (!IsServedFile(relative)) return NotFound();
  // Without waiting: a pipe that nobody writes to must not hold a thread.
  UniqueFd file(openat(folder_.get(), relative.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat facts;
  if (!file.valid() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return NotFound();
  if (!IsServedPath(real_path_, file.get())) return NotFound();
  Response response;
  response.type = MimeType(relative);
  response.file = std::move(file);
  // A page made of what a job left behind must not speak for the report.
  if (relative.ends_with(".html") && relative != "index.html")
    response.headers.emplace_back("Content-Security-Policy", "sandbox allow-scripts");
  ChooseRange(request, facts.st_size, response);
  return response;
}

std::string_view MimeType(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},   {".json", "application/json; charset=utf-8"},
      {".txt", "text/plain; charset=utf-8"}, {".png", "image/png"},
  };
  for (const auto& [end, type] : kTypes) {
    if (path.ends_with(end)) return type;
  }
  return "application/octet-stream";
}

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
