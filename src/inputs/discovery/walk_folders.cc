// A depth-first walk in order of name. Symbolic links to files are followed, those to folders only
// where they stay inside of the paths that were named: behind a link to `/` is no job. A link to a
// folder above itself is a loop, a file or folder that was reached before is read once. All are
// found by device and inode.
#include "inputs/discovery/walk_folders.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/bytes/output_names.h"
#include "base/paths.h"
#include "inputs/input_diagnostics.h"

namespace debrief {

namespace {

using FolderKey = std::pair<dev_t, ino_t>;

std::string Join(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

class Walker {
 public:
  Walker(const std::vector<std::string>& paths, const std::string& output_folder, bool stays_inside)
      : stays_inside_(stays_inside) {
    for (const std::string& path : paths) roots_.push_back(PlaceOf(path));
    if (output_folder.empty()) return;
    const std::string own = output_folder.substr(0, output_folder.find_last_not_of('/') + 1);
    for (const std::string& folder : {own, own + std::string(kShardsSuffix)}) {
      struct stat info;
      if (stat(folder.c_str(), &info) == 0) outputs_.emplace(info.st_dev, info.st_ino);
    }
  }

  // `shown` is the path as the user sees it; `folder` what it lies in.
  void Visit(const std::string& path, const std::string& folder, const std::string& name) {
    struct stat info;
    if (stat(path.c_str(), &info) != 0) return AddBroken(path, folder, name, errno);
    if (S_ISDIR(info.st_mode)) {
      if (!above_.empty() && IsLink(path) && !IsInside(PlaceOf(path)))
        return Note(Add(path, folder, name), kInputLinkLeaves, InputState::kSkipped, "");
      return VisitFolder(path, folder, name, {info.st_dev, info.st_ino});
    }
    if (stays_inside_ && !above_.empty() && IsLink(path) && !IsInside(PlaceOf(path)))
      return Note(Add(path, folder, name), kInputLinkLeaves, InputState::kSkipped, "");
    if (S_ISREG(info.st_mode) && IsSeen(path, {info.st_dev, info.st_ino})) {
      if (!above_.empty()) Note(Add(path, folder, name), kInputSeen, InputState::kSkipped, "");
      return;
    }
    FoundInput& input = Add(path, folder, name);
    if (S_ISREG(info.st_mode)) {
      input.file = path;
      input.bytes = static_cast<uint64_t>(info.st_size);
    } else {
      Note(input, kInputNotAFile, InputState::kSkipped, "");
    }
  }

  std::vector<FoundInput> TakeFound() { return std::move(found_); }

 private:
  static constexpr size_t kNowhere = ~size_t{0};

  // One file on disk: where in found_ its names are. Most have one, and its place is never asked.
  struct Names {
    size_t first = kNowhere;
    std::map<std::string, size_t> by_place;
  };

  void VisitFolder(const std::string& path, const std::string& folder, const std::string& name,
                   FolderKey key) {
    if (outputs_.contains(key)) return;
    if (std::find(above_.begin(), above_.end(), key) != above_.end()) {
      return Note(Add(path, folder, name), kInputSymlinkLoop, InputState::kSkipped, "");
    }
    if (!seen_.insert(key).second) {
      if (!above_.empty()) Note(Add(path, folder, name), kInputSeen, InputState::kSkipped, "");
      return;
    }
    std::vector<std::string> names;
    if (int error = ListFolder(path, names); error != 0)
      return AddBroken(path, folder, name, error);
    if (IsOwnOutput(names)) {
      return Note(Add(path, folder, name), kInputOwnOutput, InputState::kSkipped, "");
    }
    above_.push_back(key);
    for (const std::string& child : names) Visit(Join(path, child), path, child);
    above_.pop_back();
  }

  // Whether the file was reached by another name of the same place. Equal files of several ranks
  // may be one file on disk (hard links): these have different places and are read as often. Of a
  // link and what it leads to, the link is left out.
  bool IsSeen(const std::string& path, FolderKey key) {
    Names& names = files_[key];
    if (names.first == kNowhere) {
      names.first = found_.size();
      return false;
    }
    if (names.by_place.empty())
      names.by_place.emplace(PlaceOf(found_[names.first].path), names.first);
    auto [place, is_new] = names.by_place.try_emplace(PlaceOf(path), found_.size());
    if (is_new) return false;
    const size_t other = place->second;
    if (!IsLink(found_[other].path) || IsLink(path)) return true;
    found_[other].file.clear();
    Note(found_[other], kInputSeen, InputState::kSkipped, "");
    place->second = found_.size();
    return false;
  }

  // Is `place` one of the named paths, or below one?
  bool IsInside(const std::string& place) const {
    return std::any_of(roots_.begin(), roots_.end(), [&](const std::string& root) {
      return place.starts_with(root) &&
             (place.size() == root.size() || root.back() == '/' || place[root.size()] == '/');
    });
  }

  static bool IsLink(const std::string& path) {
    struct stat info;
    return lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  }

  static int ListFolder(const std::string& path, std::vector<std::string>& names) {
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr) return errno;
    while (dirent* entry = readdir(folder)) {
      std::string name = entry->d_name;
      bool is_ours = name != "." && name != ".." && name != ".git" && name != kOutputMarker &&
                     !IsUnfinishedName(name);
      if (is_ours) names.push_back(std::move(name));
    }
    closedir(folder);
    std::sort(names.begin(), names.end());
    return 0;
  }

  static bool IsOwnOutput(const std::vector<std::string>& names) {
    auto has = [&](const char* name) {
      return std::binary_search(names.begin(), names.end(), name);
    };
    return has("findings.json") && has("index.html");
  }

  FoundInput& Add(const std::string& path, const std::string& folder, const std::string& name) {
    FoundInput& input = found_.emplace_back();
    input.path = path;
    input.folder = folder;
    input.name = name;
    return input;
  }

  void AddBroken(const std::string& path, const std::string& folder, const std::string& name,
                 int error) {
    const DiagnosticKind& kind = error == ELOOP ? kInputSymlinkLoop : kInputUnreadable;
    Note(Add(path, folder, name), kind, InputState::kFailed, std::strerror(error));
  }

  static void Note(FoundInput& input, const DiagnosticKind& kind, InputState state,
                   std::string detail) {
    input.state = state;
    input.notes.push_back({&kind, {.offset = -1, .line = -1, .detail = std::move(detail)}});
  }

  bool stays_inside_;
  std::vector<FoundInput> found_;
  std::set<FolderKey> outputs_;
  std::vector<FolderKey> above_;
  std::set<FolderKey> seen_;
  std::vector<std::string> roots_;  // places of the paths that were named
  std::map<FolderKey, Names> files_;
};

}  // namespace

std::vector<FoundInput> WalkFolders(const std::vector<std::string>& paths,
                                    const std::string& output_folder, bool stays_inside) {
  Walker walker(paths, output_folder, stays_inside);
  for (std::string path : paths) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    size_t slash = path.rfind('/');
    std::string folder =
        slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
    walker.Visit(path, folder, slash == std::string::npos ? path : path.substr(slash + 1));
  }
  return walker.TakeFound();
}

}  // namespace debrief
