#include "base/sqlite/source_windows.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace debrief {

namespace {

constexpr size_t kWindowBytes = size_t{128} << 10;  // a power of two, no less than a page

}  // namespace

Status SourceWindows::Copy(uint64_t offset, char* out, size_t length) {
  while (length > 0) {
    if (offset >= source_.size()) {
      std::memset(out, 0, length);
      return {};
    }
    ASSIGN_OR_RETURN(const Window* window, WindowAt(offset));
    const std::string_view bytes = window->bytes.text();
    const uint64_t inside = offset - window->offset;
    if (inside >= bytes.size()) return Status(Code::kChanged, "the file became shorter");
    const size_t count = std::min<size_t>(length, bytes.size() - static_cast<size_t>(inside));
    std::memcpy(out, bytes.data() + inside, count);
    out += count;
    offset += count;
    length -= count;
  }
  return {};
}

Result<const SourceWindows::Window*> SourceWindows::WindowAt(uint64_t offset) {
  const uint64_t begin = offset & ~uint64_t{kWindowBytes - 1};
  Window* oldest = &windows_[0];
  for (Window& window : windows_) {
    if (window.used != 0 && window.offset == begin) {
      window.used = ++uses_;
      return &window;
    }
    if (window.used < oldest->used) oldest = &window;
  }
  ASSIGN_OR_RETURN(ByteView bytes, source_.View(begin, kWindowBytes));
  *oldest = {.offset = begin, .used = ++uses_, .bytes = std::move(bytes)};
  return oldest;
}

}  // namespace debrief
