// Files of a tree under construction. The tree is made in a folder of its own and only then given
// its name, so files are written in place: no temporary names, no renames.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief::outputs::tlparse_tree {

class FileSink {
 public:
  // `folder` exists.
  explicit FileSink(std::string folder) : folder_(std::move(folder)) {}

  // Creates or replaces the file; folders of its path are made. Any thread may call.
  Status Write(const std::string& path, std::string_view content);

  // For files that come in pieces.
  class Stream {
   public:
    Stream(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
    Status Append(std::string_view piece);

   private:
    std::string path_;
    UniqueFd file_;
  };
  Result<Stream> Open(const std::string& path);

  const std::string& folder() const { return folder_; }

 private:
  Status MakeFolders(const std::string& path);

  std::string folder_;
  std::mutex mutex_;
  std::unordered_set<std::string> made_;  // folders that exist, relative
};

}  // namespace debrief::outputs::tlparse_tree
