// A Source is bytes with a size that can be looked at anywhere: a file, an unpacked gzip stream, an
// archive member, stdin. Importers see nothing else of the outside world.
//
//   ASSIGN_OR_RETURN(ByteView bytes, source.View(offset, length));
//   Parse(bytes.text());                       // valid as long as `bytes` lives
//
// A view owns a window of its own: memory is bounded by the views alive, not by the size of the
// file. Windows are read with pread, not mapped. A mapped log that is cut or rewritten while a
// parser is in it ends the process (SIGBUS) or changes under the parser's feet; a window that was
// read does neither, costs one copy out of the page cache, and a file that shrank is an ordinary
// Status (kChanged).
//
// Every view is followed by kPadding readable bytes, which simdjson needs; behind the end of the
// source they are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace debrief {

inline constexpr size_t kPadding = 64;

// Some bytes and what keeps them alive. Cheap to copy; copies share the bytes.
class ByteView {
 public:
  ByteView() = default;
  ByteView(std::shared_ptr<const char[]> owner, const char* data, size_t size)
      : owner_(std::move(owner)), data_(data), size_(size) {}

  std::string_view text() const { return {data_, size_}; }
  const char* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::shared_ptr<const char[]> owner_;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

// The bytes [begin, end) of a source.
struct ByteRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

class Source {
 public:
  virtual ~Source() = default;

  // Bytes in all, after decompression.
  virtual uint64_t size() const = 0;

  // The bytes [offset, offset + length), fewer only at the end of the source. Any thread may call.
  virtual Result<ByteView> View(uint64_t offset, size_t length) const = 0;
};

// Over bytes in memory: unit tests, fuzzers and small archive members.
std::unique_ptr<Source> MakeMemorySource(std::string bytes);

// Over a regular file. Fails with kNotFound, kDenied or kUnsupported (not a regular file).
Result<std::unique_ptr<Source>> OpenFileSource(const std::string& path);

}  // namespace debrief
