#include "app/watch/followed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/bytes/unique_fd.h"

namespace debrief::watch {

namespace {

constexpr size_t kLongestLine = 64 << 10;
constexpr uint64_t kMostAtOnce = uint64_t{8} << 20;

// Only what the scan saw: not a fifo or a link that was put in its place since.
UniqueFd OpenSeen(const SeenFile& seen, struct stat& info) {
  UniqueFd file(open(seen.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const bool is_same = file.valid() && fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
                       info.st_dev == seen.device && info.st_ino == seen.inode;
  return is_same ? std::move(file) : UniqueFd();
}

}  // namespace

FollowedFile::Growth FollowedFile::Read(const SeenFile& seen, const LineSink& line) {
  Growth growth;
  struct stat info;
  const UniqueFd file = OpenSeen(seen, info);
  if (!file.valid()) return growth;
  if (static_cast<uint64_t>(info.st_size) < offset_) {
    growth.was_truncated = true;
    offset_ = 0;
    partial_.clear();
  }
  std::array<char, 256 << 10> buffer;
  while (growth.bytes < kMostAtOnce) {
    const ssize_t got =
        pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return growth;
    offset_ += static_cast<uint64_t>(got);
    growth.bytes += static_cast<uint64_t>(got);
    Take({buffer.data(), static_cast<size_t>(got)}, line);
  }
  growth.has_more = true;
  return growth;
}

void FollowedFile::Take(std::string_view bytes, const LineSink& line) {
  while (!bytes.empty()) {
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    const size_t room = kLongestLine - std::min(kLongestLine, partial_.size());
    if (end == std::string_view::npos) {
      partial_ += piece.substr(0, room);
      return;
    }
    if (partial_.empty()) {
      if (!piece.empty()) line(piece.substr(0, kLongestLine));
    } else {
      partial_ += piece.substr(0, room);
      line(partial_);
      partial_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void FollowedFile::Finish(const LineSink& line) {
  if (!partial_.empty()) line(partial_);
  partial_.clear();
}

std::string ReadFirstBytes(const std::string& path, size_t most) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text(most, '\0');
  size_t size = 0;
  while (file.valid() && size < most) {
    const ssize_t got = read(file.get(), text.data() + size, most - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace debrief::watch
