#include "compat/tlparse/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace debrief::outputs::tlparse_tree {

namespace {

Status Failed(const std::string& path, int error) {
  Code code = error == ENOSPC || error == EDQUOT || error == EFBIG ? Code::kNoSpace
              : error == EACCES || error == EROFS                  ? Code::kDenied
                                                                   : Code::kIo;
  std::string remedy = code == Code::kNoSpace ? "Free some space, or choose another disk with -o"
                                              : "Choose another folder with -o";
  return Status(code, std::string("cannot write: ") + std::strerror(error))
      .At({.file = path})
      .Remedy(remedy);
}

}  // namespace

Status FileSink::MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    std::string folder = path.substr(0, slash);
    std::lock_guard lock(mutex_);
    if (made_.contains(folder)) continue;
    std::string full = folder_ + "/" + folder;
    if (mkdir(full.c_str(), 0777) != 0 && errno != EEXIST) return Failed(full, errno);
    made_.insert(folder);
  }
  return {};
}

Result<FileSink::Stream> FileSink::Open(const std::string& path) {
  TRY(MakeFolders(path));
  std::string full = folder_ + "/" + path;
  UniqueFd file(open(full.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.valid()) return Failed(full, errno);
  return Stream(std::move(full), std::move(file));
}

Status FileSink::Stream::Append(std::string_view piece) {
  while (!piece.empty()) {
    ssize_t written = write(file_.get(), piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path_, errno);
    piece.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status FileSink::Write(const std::string& path, std::string_view content) {
  ASSIGN_OR_RETURN(Stream stream, Open(path));
  return stream.Append(content);
}

}  // namespace debrief::outputs::tlparse_tree
