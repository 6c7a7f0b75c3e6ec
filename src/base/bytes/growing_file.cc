#include "base/bytes/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace debrief {

Status GrowingFile::Failed(int error) const {
  Code code = error == ENOSPC || error == EDQUOT                    ? Code::kNoSpace
              : error == EACCES || error == EPERM || error == EROFS ? Code::kDenied
                                                                    : Code::kIo;
  return Status(code, fmt::format("cannot write: {}", std::strerror(error)))
      .At({.file = path_})
      .Remedy("Choose another output folder with -o");
}

Result<GrowingFile> GrowingFile::Create(std::string path) {
  GrowingFile file(std::move(path), UniqueFd());
  ::unlink(file.temporary().c_str());
  file.file_ =
      UniqueFd(::open(file.temporary().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.file_.valid()) return file.Failed(errno);
  return file;
}

GrowingFile::~GrowingFile() {
  if (file_.valid()) ::unlink(temporary().c_str());
}

Status GrowingFile::Append(std::string_view piece) {
  while (!piece.empty()) {
    ssize_t written = ::write(file_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(errno);
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status GrowingFile::Finish() {
  // Some file systems tell of a full disk only when a file is closed. The copy keeps file_ for the
  // destructor, which removes what could not be finished.
  const int copy = ::dup(file_.get());
  if (copy < 0 || ::close(copy) != 0) return Failed(errno);
  if (std::rename(temporary().c_str(), path_.c_str()) != 0) return Failed(errno);
  file_ = UniqueFd();
  return {};
}

}  // namespace debrief
