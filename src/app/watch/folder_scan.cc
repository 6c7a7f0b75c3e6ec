#include "app/watch/folder_scan.h"

#include <dirent.h>
#include <sys/stat.h>

#include <memory>
#include <string_view>

#include "base/bytes/output_names.h"
#include "base/paths.h"

namespace debrief::watch {

namespace {

class FolderScanner {
 public:
  explicit FolderScanner(const std::string& root) : root_(RealPath(root)) {}

  FolderScan Scan(const std::string& root) {
    std::vector<std::string> waiting = {root};
    while (!waiting.empty() && result_.files.size() < kMostFiles) {
      const std::string folder = std::move(waiting.back());
      waiting.pop_back();
      List(folder, waiting);
    }
    return std::move(result_);
  }

 private:
  void List(const std::string& folder, std::vector<std::string>& waiting) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(opendir(folder.c_str()), closedir);
    if (stream == nullptr) return;
    result_.is_there = true;
    struct stat info;
    const bool is_own = stat((folder + "/" + std::string(kOutputMarker)).c_str(), &info) == 0;
    if (is_own) return;
    result_.folders.push_back(folder);
    while (const dirent* entry = readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || IsUnfinishedName(name)) continue;
      Visit(folder + "/" + std::string(name), waiting);
    }
  }

  void Visit(const std::string& path, std::vector<std::string>& waiting) {
    struct stat info;
    if (lstat(path.c_str(), &info) != 0) return;
    if (S_ISDIR(info.st_mode)) return waiting.push_back(path);
    if (S_ISLNK(info.st_mode)) {
      const std::string place = RealPath(path);
      const bool is_inside = place.starts_with(root_ + "/");
      if (!place.empty() && !is_inside) ++result_.refused;
      if (!is_inside || stat(path.c_str(), &info) != 0) return;
    }
    if (!S_ISREG(info.st_mode) || result_.files.size() >= kMostFiles) return;
    result_.files.push_back({path, info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
                             info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec});
  }

  std::string root_;
  FolderScan result_;
};

}  // namespace

FolderScan ScanFolder(const std::string& root) { return FolderScanner(root).Scan(root); }

}  // namespace debrief::watch
