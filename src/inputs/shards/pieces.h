// Packed pieces of a shard: written one behind the other, checked and unpacked when they are read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes/byte_stream.h"
#include "base/bytes/growing_file.h"
#include "base/bytes/source.h"
#include "base/status.h"
#include "inputs/shards/index.h"

namespace debrief::shards {

inline constexpr std::string_view kMagic = "debrief shard 2\n";

// Packed as gzip members of a bounded size.
std::string Pack(std::string_view bytes);

class PieceWriter {
 public:
  explicit PieceWriter(GrowingFile& file) : file_(file) {}

  Status PutRaw(std::string_view bytes);
  // Of `bytes` bytes before they were packed.
  Status PutPacked(std::string_view packed, uint64_t bytes, Piece& piece);
  Status PutSource(const Source& source, Piece& piece);
  // A piece of another shard as it is; `piece` then lies here.
  Status CopyPiece(const Source& file, Piece& piece);
  // Behind all pieces: the index and where it is.
  Status PutIndex(const ShardIndex& index);

 private:
  GrowingFile& file_;
  uint64_t offset_ = 0;
};

// kInvalid or kTruncated when the bytes of a piece are not what was written.
Status CheckPiece(const Source& file, const Piece& piece);
// The bytes of a piece; kInvalid when they are not what was written.
Result<std::string> ReadPiece(const Source& file, const Piece& piece);
// The unpacked bytes as a stream, which `file` must outlive. Not checked.
std::unique_ptr<ByteStream> StreamOf(const Source& file, const Piece& piece);

}  // namespace debrief::shards
