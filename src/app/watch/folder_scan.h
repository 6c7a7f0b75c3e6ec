// The regular files below a folder, as they are now. Nothing outside of it: links to folders are
// not followed, links to files only where they stay inside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace debrief::watch {

struct SeenFile {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t bytes = 0;
  int64_t changed_ns = 0;
};

struct FolderScan {
  std::vector<SeenFile> files;
  std::vector<std::string> folders;  // the root first
  size_t refused = 0;                // links that lead out
  bool is_there = false;
};

// Folders that debrief wrote are passed over. At most kMostFiles.
inline constexpr size_t kMostFiles = 1 << 20;
FolderScan ScanFolder(const std::string& root);

}  // namespace debrief::watch
