// Sources over regular files: every view is one pread into a buffer of its own.
//
// The size is taken when the file is opened and stays: what a running job appends later is not
// seen, so two passes over a source see the same bytes. A file that became shorter is kChanged, and
// so is one that was replaced between two views.
// Cost: one system call and one copy out of the page cache per view (see TakeBuffer).
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/bytes/open_files.h"
#include "base/bytes/source_parts.h"

namespace debrief {

namespace {

constexpr size_t kSmallest = 64 << 10;  // below, malloc keeps blocks by itself
constexpr size_t kLargest = 4 << 20;    // above, faults are few beside the time to parse
constexpr size_t kKept = 4;             // so at most 16 MiB idle in a process

struct Buffer {
  char* bytes = nullptr;
  size_t capacity = 0;
};

// Page-aligned, as the pages of the cache are: about 15 % faster to fill than at malloc's offset of
// 16 (7.9 against 6.8 GB per CPU second).
constexpr std::align_val_t kPage{4096};

char* Allocate(size_t bytes) {
  return static_cast<char*>(::operator new[](bytes, kPage, std::nothrow));
}

void Deallocate(char* bytes) { ::operator delete[](bytes, kPage); }

// The free buffers. One list serves all sources: thousands of files may be open at once.
class FreeList {
 public:
  Buffer Take(size_t bytes) {
    std::lock_guard lock(mutex_);
    for (Buffer& buffer : kept_) {
      if (buffer.capacity >= bytes && buffer.capacity <= 2 * bytes)
        return std::exchange(buffer, {});
    }
    return {};
  }

  // A full list loses its oldest: sizes that are not asked for any more do not stay for ever.
  void Put(Buffer buffer) {
    {
      std::lock_guard lock(mutex_);
      std::swap(kept_[next_], buffer);
      next_ = (next_ + 1) % kKept;
    }
    Deallocate(buffer.bytes);
  }

 private:
  std::mutex mutex_;
  std::array<Buffer, kKept> kept_;
  size_t next_ = 0;
};

// Never destroyed: a view may outlive the statics of main.
FreeList& Free() {
  static FreeList* list = new FreeList;
  return *list;
}

// Buffers for the windows of files, used again after their views have died.
//
// A fresh megabyte costs 256 page faults and their zeroing: several times the copy out of the page
// cache that fills it (1.8 instead of 7.9 GB per CPU second, measured). malloc keeps such blocks
// only when it happens to find them inside a heap. So a few are kept here: reading a file in order
// works in one or two buffers.
//
// At least `bytes` bytes, not initialised; null when there is no memory. Any thread may take and
// drop.
std::shared_ptr<char[]> TakeBuffer(size_t bytes) {
  if (bytes < kSmallest || bytes > kLargest + kSmallest) {
    return std::shared_ptr<char[]>(new (std::nothrow) char[bytes]);
  }
  Buffer buffer = Free().Take(bytes);
  if (buffer.bytes == nullptr) buffer = {Allocate(bytes), bytes};
  if (buffer.bytes == nullptr) return nullptr;
  return {buffer.bytes, [capacity = buffer.capacity](char* dead) { Free().Put({dead, capacity}); }};
}

// The most that Linux reads at once, rounded down to a page.
constexpr size_t kMaxRead = 0x7ffff000;

Place At(const std::string& name, uint64_t offset) {
  return {.file = name, .offset = static_cast<int64_t>(offset)};
}

Status Shrank(const std::string& name, uint64_t offset) {
  return Status(Code::kChanged, "the file is shorter now than when it was opened")
      .At(At(name, offset))
      .Remedy("Run again when nothing writes to the file any more.");
}

Status ReadAll(int fd, char* out, uint64_t offset, size_t length, const std::string& name) {
  for (size_t done = 0; done < length;) {
    const ssize_t got = ::pread(fd, out + done, std::min(length - done, kMaxRead),
                                static_cast<off_t>(offset + done));
    if (got == 0) return Shrank(name, offset + done);
    if (got < 0 && errno != EINTR) {
      return Status(Code::kIo, fmt::format("cannot read: {}", std::strerror(errno)))
          .At(At(name, offset + done));
    }
    if (got > 0) done += static_cast<size_t>(got);
  }
  return {};
}

// Formats are read record by record. A file with holes, or one that only looks like its format, may
// seem to be one record of any size: that is no reason to take that much memory.
constexpr size_t kMostAtOnce = size_t{4} << 30;

// A source over something that is read into a buffer for every view.
class ReadSource : public Source {
 public:
  ReadSource(uint64_t size, std::string name) : size_(size), name_(std::move(name)) {}

  uint64_t size() const final { return size_; }

  Result<ByteView> View(uint64_t offset, size_t length) const final {
    offset = std::min(offset, size_);
    length = static_cast<size_t>(std::min<uint64_t>(length, size_ - offset));
    if (length > kMostAtOnce) {
      return Status(Code::kLimit, "one record of the file has more than 4 GiB; no format has such")
          .At(At(name_, offset));
    }
    std::shared_ptr<char[]> buffer = TakeBuffer(length + kPadding);
    if (buffer == nullptr) {
      return Status(Code::kLimit, fmt::format("no memory for a window of {} bytes", length))
          .At(At(name_, offset));
    }
    if (length > 0) TRY(Read(buffer.get(), offset, length));
    std::memset(buffer.get() + length, 0, kPadding);
    const char* data = buffer.get();
    return ByteView(std::move(buffer), data, length);
  }

 protected:
  virtual Status Read(char* out, uint64_t offset, size_t length) const = 0;
  const std::string& name() const { return name_; }

 private:
  uint64_t size_;
  std::string name_;
};

// Pieces of an open file, one behind the other.
class PieceSource final : public ReadSource {
 public:
  PieceSource(std::shared_ptr<const UniqueFd> fd, std::vector<ByteRange> pieces, uint64_t size,
              std::string name)
      : ReadSource(size, std::move(name)), fd_(std::move(fd)), pieces_(std::move(pieces)) {
    uint64_t end = 0;
    for (const ByteRange& piece : pieces_) ends_.push_back(end += piece.size());
  }

 protected:
  Status Read(char* out, uint64_t offset, size_t length) const override {
    auto i =
        static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), offset) - ends_.begin());
    for (; length > 0; ++i) {
      const uint64_t left = ends_[i] - offset;
      const size_t count = static_cast<size_t>(std::min<uint64_t>(length, left));
      TRY(ReadAll(fd_->get(), out, pieces_[i].end - left, count, name()));
      out += count;
      offset += count;
      length -= count;
    }
    return {};
  }

 private:
  std::shared_ptr<const UniqueFd> fd_;
  std::vector<ByteRange> pieces_;
  std::vector<uint64_t> ends_;  // of the pieces, in the source
};

std::string_view KindName(mode_t mode) {
  if (S_ISDIR(mode)) return "directory";
  if (S_ISFIFO(mode)) return "fifo";
  if (S_ISSOCK(mode)) return "socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "device";
  return "special file";
}

Status CheckRegular(const struct stat& info, const std::string& path) {
  if (S_ISREG(info.st_mode)) return {};
  Status status(Code::kUnsupported,
                fmt::format("a {}, not a regular file", KindName(info.st_mode)));
  return std::move(status)
      .At({.file = path})
      .Remedy("Name a file, or pipe the bytes in through -.");
}

Status OpenFailed(int error, const std::string& path) {
  const std::string message = fmt::format("cannot open: {}", std::strerror(error));
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Status(Code::kNotFound, "no such file").At({.file = path});
    case EACCES:
    case EPERM:
      return Status(Code::kDenied, message).At({.file = path}).Remedy("Make the file readable.");
    case EMFILE:
    case ENFILE:
      return Status(Code::kIo, message)
          .At({.file = path})
          .Remedy("Allow more open files (ulimit -n).");
    default:
      return Status(Code::kIo, message).At({.file = path});
  }
}

// Looked at twice: before open, since opening a device may do things to it and a socket cannot be
// opened at all; and after, since the name may mean something else by then. O_NONBLOCK is for a
// fifo that comes in between: open would wait for its writer.
Result<UniqueFd> OpenRegular(const std::string& path, struct stat& info) {
  if (::stat(path.c_str(), &info) != 0) return OpenFailed(errno, path);
  TRY(CheckRegular(info, path));
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return OpenFailed(errno, path);
  TRY(CheckRegular(info, path));
  return fd;
}

// A file by its name, which is opened whenever it is read and not open (open_files.h).
class NamedSource final : public ReadSource {
 public:
  NamedSource(const struct stat& info, std::string path, uint64_t number)
      : ReadSource(static_cast<uint64_t>(info.st_size), std::move(path)),
        device_(info.st_dev),
        inode_(info.st_ino),
        number_(number) {}
  ~NamedSource() override { OpenFiles::Shared().Forget(number_); }

 protected:
  Status Read(char* out, uint64_t offset, size_t length) const override {
    ASSIGN_OR_RETURN(const OpenFiles::Use use,
                     OpenFiles::Shared().Take(number_, [this] { return Open(); }));
    return ReadAll(use.fd(), out, offset, length, name());
  }

 private:
  Result<UniqueFd> Open() const {
    struct stat info = {};
    ASSIGN_OR_RETURN(UniqueFd fd, OpenRegular(name(), info));
    if (info.st_dev == device_ && info.st_ino == inode_) return fd;
    return Status(Code::kChanged, "another file has its name now").At({.file = name()});
  }

  dev_t device_;
  ino_t inode_;
  uint64_t number_;
};

}  // namespace

std::unique_ptr<Source> MakePieceSource(std::shared_ptr<const UniqueFd> fd,
                                        std::vector<ByteRange> pieces, std::string name) {
  uint64_t size = 0;
  for (const ByteRange& piece : pieces) size += piece.size();
  return std::make_unique<PieceSource>(std::move(fd), std::move(pieces), size, std::move(name));
}

Result<std::unique_ptr<Source>> OpenFileSource(const std::string& path) {
  OpenFiles& files = OpenFiles::Shared();
  const uint64_t number = files.NewNumber();
  struct stat info = {};
  TRY(files.Take(number, [&] { return OpenRegular(path, info); }).status());
  files.RememberInput(info, path);
  return std::unique_ptr<Source>(std::make_unique<NamedSource>(info, path, number));
}

}  // namespace debrief
