#include "base/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace debrief {

namespace {

Status WriteError(const std::string& path, int error) {
  Code code = error == ENOSPC || error == EDQUOT                    ? Code::kNoSpace
              : error == EACCES || error == EPERM || error == EROFS ? Code::kDenied
                                                                    : Code::kIo;
  return Status(code, fmt::format("cannot write: {}", std::strerror(error)))
      .At({.file = path})
      .Remedy("Choose another output folder with -o");
}

// 0, or the errno of the write that failed.
int WriteAll(int file, std::string_view content) {
  while (!content.empty()) {
    ssize_t written = write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  std::string temporary = path + ".tmp";
  int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return WriteError(path, errno);
  int error = WriteAll(file, content);
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return WriteError(path, error);
}

}  // namespace debrief
