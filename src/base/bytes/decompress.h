// Unpacking gzip and zstd as a stream; text in UTF-16 is one more way to pack (text/utf16.h).
//
// Everything that can be decoded is delivered before the trouble that ends it: the log of a job
// that was killed while it compressed is cut, and its good part is what the user wants to see.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/bytes/byte_stream.h"
#include "base/status.h"

namespace debrief {

enum class Packing : uint8_t { kNone, kGzip, kZstd, kUtf16 };

// By the magic bytes; four are enough.
Packing DetectPacking(std::string_view head);

// Against bombs. Text of machines packs 10 to 40 times, deflate at most 1032 times, zstd without
// bound.
struct ExpansionLimits {
  uint64_t free_bytes = uint64_t{64} << 20;  // output up to here may have any ratio
  uint64_t max_ratio = 300;
  uint64_t max_bytes = uint64_t{1} << 40;

  // kLimit when `out` bytes are too many for `in` bytes of input.
  Status Check(uint64_t in, uint64_t out) const;
};

// The unpacked bytes of `in`. A gzip stream may have several members and zeros after the last one,
// a zstd stream several frames. Read fails with kTruncated, kInvalid, kLimit or what `in` failed
// with; the place is the offset in `in`. kNone gives `in` back.
//
// Memory: 0.6 MiB, for zstd also the window of the stream, at most 128 MiB. Buffers of 256 KiB and
// more are decoded into without a copy.
std::unique_ptr<ByteStream> Decompress(Packing packing, std::unique_ptr<ByteStream> in,
                                       const ExpansionLimits& limits);

}  // namespace debrief
