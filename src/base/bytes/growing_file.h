// A file that is too large to be held in memory before it is written.
//
//   ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
//   TRY(file.Append("piece"));
//   TRY(file.Finish());
//
// It grows under a temporary name beside its place and is renamed by Finish(): a reader sees the
// old file or the whole new one. Without Finish() nothing is left behind. A link that someone put
// at the temporary name is replaced, not followed.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/unique_fd.h"
#include "base/status.h"

namespace debrief {

class GrowingFile {
 public:
  static Result<GrowingFile> Create(std::string path);
  GrowingFile(GrowingFile&& other) noexcept = default;
  ~GrowingFile();

  Status Append(std::string_view piece);
  Status Finish();

 private:
  GrowingFile(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  Status Failed(int error) const;
  std::string temporary() const { return path_ + ".tmp"; }

  std::string path_;
  UniqueFd file_;  // not valid once finished
};

}  // namespace debrief
