#include "base/bytes/growing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/bytes/open_files.h"
#include "base/bytes/output_names.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

// The descriptor that a name of /dev stands for. Opened by its name, a file behind it would be
// written from its beginning, over what is there already.
int DescriptorOf(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    if (const auto number = ParseNumber<int>(path.substr(folder.size()))) return *number;
  }
  return -1;
}

}  // namespace

Status GrowingFile::Failed(int error) const {
  Code code = error == ENOSPC || error == EDQUOT                    ? Code::kNoSpace
              : error == EACCES || error == EPERM || error == EROFS ? Code::kDenied
                                                                    : Code::kIo;
  return Status(code, fmt::format("cannot write: {}", std::strerror(error)))
      .At({.file = path_})
      .Remedy("Choose another output folder with -o");
}

Result<GrowingFile> GrowingFile::Create(std::string path) {
  GrowingFile file(std::move(path));
  TRY(file.Open());
  return file;
}

Status GrowingFile::Open() {
  struct stat info;
  const int descriptor = DescriptorOf(path_);
  const bool is_there = ::stat(path_.c_str(), &info) == 0;
  if (descriptor >= 0) {
    file_ = UniqueFd(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  } else if (is_there && !S_ISREG(info.st_mode)) {
    file_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  } else if (is_there && OpenFiles::Shared().IsInput(info)) {
    return Status(Code::kUsage, "this is an input, which is not replaced")
        .At({.file = path_})
        .Remedy("Choose another name with -o");
  } else {
    unfinished_ = Unfinished(UnfinishedPath(path_));
    file_ =
        UniqueFd(::open(unfinished_.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (file_.valid()) ::flock(file_.get(), LOCK_EX | LOCK_NB);  // says that we are alive
  }
  return file_.valid() ? Status() : Failed(errno);
}

GrowingFile::~GrowingFile() {
  if (file_.valid() && !unfinished_.path().empty()) ::unlink(unfinished_.path().c_str());
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
  if (!unfinished_.path().empty()) {
    const Publishing publishing;
    if (std::rename(unfinished_.path().c_str(), path_.c_str()) != 0) return Failed(errno);
    unfinished_.Forget();
  }
  file_ = UniqueFd();
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view content) {
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  TRY(file.Append(content));
  return file.Finish();
}

}  // namespace debrief
