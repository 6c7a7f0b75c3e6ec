#include "app/bundle/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace debrief::bundle {

TemporaryFile::TemporaryFile(const std::string& folder) : folder_(folder) {
  std::string path = folder + "/debrief-XXXXXX";
  file_ = UniqueFd(mkostemp(path.data(), O_CLOEXEC));
  if (file_.valid()) unlink(path.c_str());
}

Status TemporaryFile::Failed(int error) const {
  return Status(
             error == ENOSPC || error == EDQUOT ? Code::kNoSpace : Code::kIo,
             fmt::format("cannot write a temporary file in {}: {}", folder_, std::strerror(error)))
      .Remedy("Set TMPDIR to a folder with room.");
}

Status TemporaryFile::Clear() {
  size_ = 0;
  if (!file_.valid()) return Failed(EACCES);
  const bool is_empty = ftruncate(file_.get(), 0) == 0 && lseek(file_.get(), 0, SEEK_SET) == 0;
  return is_empty ? Status() : Failed(errno);
}

Status TemporaryFile::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Failed(errno);
    size_ += static_cast<uint64_t>(written);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status TemporaryFile::ForEachPiece(const std::function<Status(std::string_view)>& piece) const {
  std::string buffer(1 << 20, '\0');
  for (uint64_t at = 0; at < size_;) {
    const ssize_t got = pread(file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Failed(errno);
    TRY(piece(std::string_view(buffer).substr(0, static_cast<size_t>(got))));
    at += static_cast<uint64_t>(got);
  }
  return {};
}

}  // namespace debrief::bundle
