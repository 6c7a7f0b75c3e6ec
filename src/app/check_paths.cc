#include "app/check_paths.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text/nearest.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostNeighbours = 4096;  // of a missing file, that are compared with its name

bool IsMissing(const std::string& path) {
  struct stat info;
  if (path == "-" || stat(path.c_str(), &info) == 0) return false;
  return errno == ENOENT || errno == ENOTDIR;
}

// The file or folder with the nearest name, as it would be written; empty when there is none.
std::string NearestFile(const std::string& path) {
  fs::path wanted(path);
  if (!wanted.has_filename()) wanted = wanted.parent_path();
  const fs::path folder = wanted.parent_path();
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator at(folder.empty() ? fs::path(".") : folder, error), end;
  for (; !error && at != end && names.size() < kMostNeighbours; at.increment(error))
    names.push_back(at->path().filename());
  std::sort(names.begin(), names.end());
  const std::string_view nearest = NearestName(wanted.filename().string(), names);
  return nearest.empty() ? "" : (folder / nearest).string();
}

std::string Hint(const std::string& path, std::span<const std::string> commands) {
  if (std::string_view command = NearestName(path, commands); !command.empty())
    return fmt::format("Did you mean the command {}?", command);
  if (std::string file = NearestFile(path); !file.empty())
    return fmt::format("Did you mean {}?", file);
  return commands.empty() ? "Check the path."
                          : "Name files or folders, or a command of debrief --help.";
}

}  // namespace

Status CheckPaths(std::span<const std::string> paths, std::span<const std::string> commands) {
  auto missing = std::find_if(paths.begin(), paths.end(), IsMissing);
  if (missing == paths.end()) return {};
  // Behind the first word no command can stand.
  if (missing != paths.begin()) commands = {};
  const std::string shown = missing->empty() ? "''" : *missing;
  return Status(Code::kUsage, fmt::format("no such file or folder: {}", shown))
      .Remedy(Hint(*missing, commands));
}

}  // namespace debrief
