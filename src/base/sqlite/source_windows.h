// Bytes of a Source in any order and size, through a few windows that are kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief {

class SourceWindows {
 public:
  // `source` must outlive this. One thread at a time.
  explicit SourceWindows(const Source& source) : source_(source) {}

  // The bytes from `offset` on; zeros behind the end of the source.
  Status Copy(uint64_t offset, char* out, size_t length);

  const Source& source() const { return source_; }

 private:
  // Whoever follows pages of several tables jumps between a few places.
  struct Window {
    uint64_t offset = 0;
    uint64_t used = 0;  // when last
    ByteView bytes;
  };

  Result<const Window*> WindowAt(uint64_t offset);

  const Source& source_;
  std::array<Window, 8> windows_;
  uint64_t uses_ = 0;
};

}  // namespace debrief
