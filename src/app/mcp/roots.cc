#include "app/mcp/roots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <filesystem>

#include "base/paths.h"

namespace debrief {

namespace fs = std::filesystem;

Result<Roots> Roots::Open(const std::vector<std::string>& folders) {
  Roots roots;
  for (const std::string& folder : folders) {
    std::string real = RealPath(folder);
    std::error_code error;
    if (real.empty() || !fs::is_directory(real, error))
      return Status(Code::kUsage, fmt::format("{} is not a folder", folder))
          .Remedy("Name the folders whose jobs a client may read.");
    roots.folders_.push_back(std::move(real));
  }
  return roots;
}

bool Roots::Contains(std::string_view real_path) const {
  return std::ranges::any_of(folders_, [&](const std::string& folder) {
    const std::string start = folder.ends_with('/') ? folder : folder + "/";
    return real_path == folder || real_path.starts_with(start);
  });
}

Status Roots::Refused(std::string_view path) const {
  return Status(Code::kDenied, fmt::format("{} is not below {}", path, fmt::join(folders_, ", ")))
      .Remedy("Only the folders that debrief mcp was started with can be read.");
}

Result<std::string> Roots::Resolve(const std::string& path) const {
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string::npos)
    return Status(Code::kUsage, "a path has 1 to 4095 bytes, none of them zero");
  bool is_inside = false;
  for (const std::string& folder : folders_) {
    const fs::path whole = (fs::path(folder) / path).lexically_normal();
    const std::string real = RealPath(whole.string());
    if (!real.empty() && Contains(real)) return real;
    is_inside |= real.empty() && Contains(whole.string());
  }
  if (!is_inside) return Refused(path);
  return Status(Code::kNotFound, fmt::format("{} does not exist", path));
}

Status Roots::CheckLinks(const std::string& folder) const {
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, fs::directory_options::skip_permission_denied,
                                        error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    std::error_code unknown;
    if (!walk->is_symlink(unknown)) continue;
    const std::string link = walk->path().string();
    const std::string real = RealPath(link);
    if (!real.empty() && !Contains(real))
      return Status(Code::kDenied, fmt::format("{} is a link out of the folders", link))
          .Remedy("Start debrief mcp with the folder that it leads to as well, or remove it.");
  }
  return {};
}

}  // namespace debrief
