// The marker is a text:
//
//   debrief unfinished           while the folder is written: everything in it is ours
//
//   debrief output               when it is whole: these are ours
//   findings.json
//   index.html
#include "app/folders/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/bytes/output_names.h"
#include "base/paths.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUnfinishedLine = "debrief unfinished";
constexpr std::string_view kWholeLine = "debrief output";

struct Marker {
  bool is_whole = false;
  std::set<std::string> names;
};

std::optional<Marker> ReadMarker(const fs::path& folder) {
  const fs::path path = folder / kOutputMarker;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error))) return std::nullopt;
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  if (line == kUnfinishedLine) return Marker();
  if (line != kWholeLine) return std::nullopt;
  Marker marker{.is_whole = true};
  while (std::getline(in, line)) marker.names.insert(line);
  return marker;
}

// What tlparse names folders after: compile ids with '_' between their numbers.
bool IsCompileId(std::string_view name) {
  return name.size() > 1 && name.find_first_not_of("-_!0123456789") == std::string_view::npos;
}

bool IsTreeName(std::string_view name) {
  constexpr std::string_view kNames[] = {"index.html",
                                         "failures_and_restarts.html",
                                         "compile_directory.json",
                                         "raw.log",
                                         "raw.jsonl",
                                         "chromium_events.json",
                                         "payloads",
                                         "runtime_estimations.json",
                                         "chromium_trace_with_runtime.json",
                                         "collective_schedules.json",
                                         "collectives_parity.json"};
  if (std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames)) return true;
  return name.starts_with("provenance_tracking_") || name.starts_with("rank_") || IsCompileId(name);
}

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  return entries;
}

bool IsCompileTree(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_regular_file(folder / "index.html", error)) return false;
  if (fs::is_regular_file(folder / "compile_directory.json", error)) return true;
  const std::vector<fs::path> entries = EntriesOf(folder);
  return std::any_of(entries.begin(), entries.end(), [&](const fs::path& entry) {
    const std::string name = entry.filename();
    return (name.starts_with("rank_") && IsCompileTree(entry)) ||
           (IsCompileId(name) && fs::is_directory(entry, error));
  });
}

bool IsOurs(const std::optional<Marker>& marker, const std::string& name) {
  if (!marker) return IsTreeName(name);
  if (!marker->is_whole || marker->names.contains(name)) return true;
  // DuckDB would replay the log that a writer left beside an old store into the new one.
  return name.ends_with(".wal") && marker->names.contains(name.substr(0, name.size() - 4));
}

Status CannotWrite(const fs::path& path) {
  return Status(Code::kDenied, fmt::format("cannot write: {}", std::strerror(errno)))
      .At({.file = path});
}

// Whether nobody writes to it any more. Who has just made it has no lock on it yet.
bool IsAbandoned(const fs::path& path) {
  constexpr auto kJustMade = std::chrono::seconds(10);
  std::error_code error;
  const bool is_folder = fs::is_directory(fs::symlink_status(path, error));
  const fs::path locked = is_folder ? path / kOutputMarker : path;
  UniqueFd fd(open(locked.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  const bool is_new = !fd.valid() || fstat(fd.get(), &info) != 0 || info.st_size == 0;
  if (is_new) {
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, error);
    return !error && age > kJustMade;
  }
  return flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

// Under another name and then renamed: who is killed here leaves one marker or the other, and who
// looks finds it locked.
Result<UniqueFd> WriteMarker(const fs::path& folder, const std::string& text) {
  const fs::path path = folder / kOutputMarker;
  const fs::path fresh = UnfinishedPath(path.string());
  UniqueFd fd(open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid()) return CannotWrite(path);
  flock(fd.get(), LOCK_EX | LOCK_NB);
  const ssize_t size = static_cast<ssize_t>(text.size());
  const bool written = write(fd.get(), text.data(), text.size()) == size;
  if (!written || rename(fresh.c_str(), path.c_str()) != 0) return CannotWrite(path);
  return fd;
}

}  // namespace

bool IsOutputFolder(const fs::path& folder) {
  return ReadMarker(folder).has_value() || IsCompileTree(folder);
}

bool IsReportFolder(const fs::path& folder) {
  const std::optional<Marker> marker = ReadMarker(folder);
  return marker && (!marker->is_whole || marker->names.contains("findings.json"));
}

Result<UniqueFd> MarkUnfinished(const fs::path& folder) {
  return WriteMarker(folder, fmt::format("{}\n", kUnfinishedLine));
}

Result<UniqueFd> MarkWhole(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::path& entry : EntriesOf(folder)) names.insert(entry.filename());
  names.erase(std::string(kOutputMarker));
  std::string text = fmt::format("{}\n", kWholeLine);
  for (const std::string& name : names) text += name + "\n";
  return WriteMarker(folder, text);
}

std::vector<std::string> OwnEntries(const fs::path& folder) {
  const std::optional<Marker> marker = ReadMarker(folder);
  std::vector<std::string> names;
  if (marker) names.emplace_back(kOutputMarker);
  for (const fs::path& entry : EntriesOf(folder)) {
    const std::string name = entry.filename();
    if (name != kOutputMarker && !IsUnfinishedName(name) && IsOurs(marker, name))
      names.push_back(name);
  }
  return names;
}

void RemoveOutputFolder(const fs::path& folder, const fs::path& successor) {
  const std::optional<Marker> marker = ReadMarker(folder);
  std::error_code error;
  bool is_empty = true;
  for (const fs::path& entry : EntriesOf(folder)) {
    const fs::path name = entry.filename();
    if (name == kOutputMarker) continue;  // the last to go: without it, the rest is not ours
    if (IsOurs(marker, name)) {
      fs::remove_all(entry, error);
      continue;
    }
    const bool is_taken = IsThere(successor / name);
    if (!is_taken) fs::rename(entry, successor / name, error);
    is_empty &= !is_taken && !error;
  }
  if (!is_empty) return;
  if (marker) fs::remove(folder / kOutputMarker, error);
  fs::remove(folder, error);
}

void RemoveAbandoned(const fs::path& target) {
  if (!target.has_filename()) return;
  std::error_code error;
  for (const fs::path& place : {target.parent_path(), target}) {
    for (const fs::path& entry : EntriesOf(place)) {
      if (!IsUnfinishedName(entry.filename().string(), target.filename().string())) continue;
      if (!IsAbandoned(entry)) continue;
      if (!fs::is_directory(fs::symlink_status(entry, error))) {
        fs::remove(entry, error);
      } else if (fs::exists(target, error) || !IsOutputFolder(entry) ||
                 !ReadMarker(entry).value_or(Marker{true, {}}).is_whole) {
        RemoveOutputFolder(entry, target);
      } else {  // killed between taking the old one away and bringing the new one
        fs::rename(entry, target, error);
      }
    }
  }
}

}  // namespace debrief
