#include "base/bytes/byte_stream.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace debrief {

namespace {

constexpr size_t kMaxWindow = 1 << 20;

class SourceStream final : public ByteStream {
 public:
  explicit SourceStream(const Source& source) : source_(source) {}

  // A window fails as a whole. Smaller ones bring the good bytes at its beginning: a file that
  // shrank is read up to its new end.
  Result<ByteView> ReadView(size_t capacity) override {
    size_t length = std::min(capacity, kMaxWindow);
    Result<ByteView> view = source_.View(offset_, length);
    while (!view.ok() && length > 1) view = source_.View(offset_, length /= 2);
    if (view.ok()) offset_ += view->size();
    return view;
  }

  Result<size_t> Read(char* out, size_t capacity) override {
    ASSIGN_OR_RETURN(const ByteView view, ReadView(capacity));
    if (view.size() > 0) std::memcpy(out, view.data(), view.size());
    return view.size();
  }

 private:
  const Source& source_;
  uint64_t offset_ = 0;
};

class FdStream final : public ByteStream {
 public:
  explicit FdStream(int fd) : fd_(fd) {}

  // The end is kept: a terminal would go on after its end-of-file character.
  Result<size_t> Read(char* out, size_t capacity) override {
    while (!ended_ && trouble_.ok()) {
      const ssize_t got = ::read(fd_, out, std::min(capacity, kMaxWindow));
      if (got > 0) {
        offset_ += got;
        return static_cast<size_t>(got);
      }
      if (got == 0) ended_ = true;
      if (got < 0 && errno != EINTR) HandleError(errno);
    }
    if (!trouble_.ok()) return trouble_;
    return size_t{0};
  }

 private:
  void HandleError(int error) {
    if (error == EAGAIN || error == EWOULDBLOCK) {
      pollfd wait = {.fd = fd_, .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, -1);
      return;
    }
    trouble_ = Status(Code::kIo, fmt::format("cannot read: {}", std::strerror(error)))
                   .At({.file = {}, .offset = offset_});
  }

  int fd_;
  int64_t offset_ = 0;
  bool ended_ = false;
  Status trouble_;
};

class PrefixedStream final : public ByteStream {
 public:
  PrefixedStream(std::string prefix, std::unique_ptr<ByteStream> owned, ByteStream& in)
      : prefix_(std::move(prefix)), owned_(std::move(owned)), in_(in) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    if (used_ == prefix_.size()) return in_.Read(out, capacity);
    const size_t count = prefix_.copy(out, capacity, used_);
    used_ += count;
    return count;
  }

 private:
  std::string prefix_;
  size_t used_ = 0;
  std::unique_ptr<ByteStream> owned_;  // null when in_ is borrowed
  ByteStream& in_;
};

// A view of the first bytes of a buffer, which has room for the padding.
ByteView ViewOf(const std::shared_ptr<char[]>& buffer, size_t size) {
  std::memset(buffer.get() + size, 0, kPadding);
  return {buffer, buffer.get(), size};
}

std::shared_ptr<char[]> MakeBuffer(size_t bytes) {
  return std::shared_ptr<char[]>(new char[bytes + kPadding]);  // not filled
}

}  // namespace

Result<ByteView> ByteStream::ReadIntoBuffer(size_t capacity) {
  const std::shared_ptr<char[]> buffer = MakeBuffer(capacity);
  ASSIGN_OR_RETURN(const size_t size, Read(buffer.get(), capacity));
  return ViewOf(buffer, size);
}

std::unique_ptr<ByteStream> MakeSourceStream(const Source& source) {
  return std::make_unique<SourceStream>(source);
}

std::unique_ptr<ByteStream> MakeFdStream(int fd) { return std::make_unique<FdStream>(fd); }

std::unique_ptr<ByteStream> MakePrefixedStream(std::string prefix, std::unique_ptr<ByteStream> in) {
  ByteStream& borrowed = *in;
  return std::make_unique<PrefixedStream>(std::move(prefix), std::move(in), borrowed);
}

std::unique_ptr<ByteStream> MakePrefixedStream(std::string prefix, ByteStream& in) {
  return std::make_unique<PrefixedStream>(std::move(prefix), nullptr, in);
}

// The head of a file comes in one piece.
Result<ByteView> ViewHead(ByteStream& in, size_t bytes) {
  ASSIGN_OR_RETURN(ByteView first, in.ReadView(bytes));
  if (first.size() == 0 || first.size() == bytes) return first;
  const std::shared_ptr<char[]> head = MakeBuffer(bytes);
  std::memcpy(head.get(), first.data(), first.size());
  size_t used = first.size();
  while (used < bytes) {
    const Result<size_t> got = in.Read(head.get() + used, bytes - used);
    if (!got.ok() || got.value() == 0) break;
    used += got.value();
  }
  return ViewOf(head, used);
}

Result<std::string> ReadHead(ByteStream& in, size_t bytes) {
  ASSIGN_OR_RETURN(const ByteView head, ViewHead(in, bytes));
  return std::string(head.text());
}

}  // namespace debrief
