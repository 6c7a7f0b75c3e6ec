// Sources over bytes in memory: a view is a pointer and one more reference to the bytes, never a
// copy.
#include "base/bytes/source.h"

#include <algorithm>

#include "base/bytes/source_parts.h"

namespace debrief {

namespace {

class MemorySource final : public Source {
 public:
  MemorySource(std::shared_ptr<const char[]> bytes, size_t size)
      : bytes_(std::move(bytes)), size_(size) {}

  uint64_t size() const override { return size_; }

  // Only a view that reaches the end is followed by zeros; the others are followed by the bytes
  // that come next, at least kPadding of them with the zeros counted. Both are readable, and both
  // are what a parser that stops at its own length needs.
  Result<ByteView> View(uint64_t offset, size_t length) const override {
    const size_t begin = static_cast<size_t>(std::min<uint64_t>(offset, size_));
    return ByteView(bytes_, bytes_.get() + begin, std::min(length, size_ - begin));
  }

 private:
  std::shared_ptr<const char[]> bytes_;  // shared with the views
  size_t size_;
};

}  // namespace

std::unique_ptr<Source> MakeSharedSource(std::shared_ptr<const char[]> bytes, size_t size) {
  return std::make_unique<MemorySource>(std::move(bytes), size);
}

std::unique_ptr<Source> MakeMemorySource(std::string bytes) {
  const size_t size = bytes.size();
  bytes.append(kPadding, '\0');
  auto holder = std::make_shared<const std::string>(std::move(bytes));
  std::shared_ptr<const char[]> view(holder, holder->data());
  return MakeSharedSource(std::move(view), size);
}

}  // namespace debrief
