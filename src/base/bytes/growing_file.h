// A file that is too large to be held in memory before it is written.
//
//   ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
//   TRY(file.Append("piece"));
//   TRY(file.Finish());
//
// It grows under another name beside its place (output_names.h) and is renamed by Finish(): a
// reader sees the old file or the whole new one. Without Finish() nothing is left behind. A file
// that was opened as an input is never replaced. What is no regular file (a fifo, /dev/stdout) has
// no old and new: it is written to.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes/unfinished.h"
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
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  Status Open();
  Status Failed(int error) const;

  std::string path_;
  UniqueFd file_;          // not valid once finished
  Unfinished unfinished_;  // its name while it grows; empty where that is path_
};

// A whole file: a reader sees the old one or the new one, never half of one, and a failure leaves
// nothing behind. kNoSpace, kDenied or kIo with the path and a remedy.
Status WriteFileAtomically(const std::string& path, std::string_view content);

}  // namespace debrief
