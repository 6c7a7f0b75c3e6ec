#include "inputs/shards/pieces.h"

#include <algorithm>
#include <utility>

#include "base/bytes/decompress.h"
#include "base/bytes/gzip.h"
#include "base/bytes/md5.h"

namespace debrief::shards {

namespace {

constexpr size_t kMember = size_t{64} << 20;  // bytes of one gzip member
constexpr size_t kWindow = size_t{1} << 20;   // of packed bytes that are read at once

// Our own zeros pack a thousand times.
constexpr ExpansionLimits kOwnPacking = {.max_ratio = 2000};

class RangeStream final : public ByteStream {
 public:
  RangeStream(const Source& file, ByteRange range) : file_(file), range_(range) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    const size_t wanted = std::min<uint64_t>({capacity, range_.size(), kWindow});
    if (wanted == 0) return size_t{0};
    ASSIGN_OR_RETURN(ByteView view, file_.View(range_.begin, wanted));
    std::copy_n(view.data(), view.size(), out);
    range_.begin += view.size();
    if (view.size() < wanted) range_.begin = range_.end;  // the file ends early
    return view.size();
  }

 private:
  const Source& file_;
  ByteRange range_;
};

bool LiesInside(const Source& file, const Piece& piece) {
  return piece.offset <= file.size() && piece.packed_bytes <= file.size() - piece.offset;
}

// Of the packed bytes; `use` gets them as they are read.
template <typename Use>
Result<std::array<uint8_t, 16>> DigestOf(const Source& file, const Piece& piece, Use use) {
  if (!LiesInside(file, piece)) return Status(Code::kTruncated, "the shard ends too early");
  Md5 md5;
  for (uint64_t done = 0; done < piece.packed_bytes;) {
    const size_t wanted = std::min<uint64_t>(piece.packed_bytes - done, kWindow);
    ASSIGN_OR_RETURN(ByteView view, file.View(piece.offset + done, wanted));
    if (view.size() < wanted) return Status(Code::kTruncated, "the shard ends too early");
    md5.Update(view.text());
    TRY(use(view.text()));
    done += wanted;
  }
  return md5.Final();
}

}  // namespace

std::string Pack(std::string_view bytes) {
  std::string packed;
  do {
    packed += Gzip(bytes.substr(0, kMember));
    bytes.remove_prefix(std::min(kMember, bytes.size()));
  } while (!bytes.empty());
  return packed;
}

Status PieceWriter::PutRaw(std::string_view bytes) {
  offset_ += bytes.size();
  return file_.Append(bytes);
}

Status PieceWriter::PutPacked(std::string_view packed, uint64_t bytes, Piece& piece) {
  Md5 md5;
  md5.Update(packed);
  piece = {offset_, packed.size(), bytes, md5.Final()};
  return PutRaw(packed);
}

Status PieceWriter::PutSource(const Source& source, Piece& piece) {
  Md5 md5;
  piece = {.offset = offset_, .packed_bytes = 0, .bytes = source.size(), .md5 = {}};
  for (uint64_t done = 0; done < source.size();) {
    const size_t wanted = std::min<uint64_t>(source.size() - done, kMember / 8);
    ASSIGN_OR_RETURN(ByteView view, source.View(done, wanted));
    if (view.size() == 0) break;
    const std::string packed = Gzip(view.text());
    md5.Update(packed);
    TRY(PutRaw(packed));
    done += view.size();
  }
  piece.packed_bytes = offset_ - piece.offset;
  piece.md5 = md5.Final();
  return {};
}

Status PieceWriter::CopyPiece(const Source& file, Piece& piece) {
  const uint64_t begin = offset_;
  const auto put = [&](std::string_view bytes) { return PutRaw(bytes); };
  ASSIGN_OR_RETURN(piece.md5, DigestOf(file, piece, put));
  piece.offset = begin;
  return {};
}

Status PieceWriter::PutIndex(const ShardIndex& index) {
  const std::string bytes = IndexBytes(index);
  Piece piece;
  TRY(PutPacked(Pack(bytes), bytes.size(), piece));
  ByteWriter tail;
  WritePiece(piece, tail);
  TRY(PutRaw(tail.bytes()));
  return PutRaw(kMagic);
}

std::unique_ptr<ByteStream> StreamOf(const Source& file, const Piece& piece) {
  const ByteRange range{piece.offset, piece.offset + piece.packed_bytes};
  return Decompress(Packing::kGzip, std::make_unique<RangeStream>(file, range), kOwnPacking);
}

Status CheckPiece(const Source& file, const Piece& piece) {
  if (piece.bytes / kOwnPacking.max_ratio > piece.packed_bytes)
    return {Code::kInvalid, "it says that it unpacks to more than can be"};
  const auto ignore = [](std::string_view) { return Status(); };
  ASSIGN_OR_RETURN(const auto digest, DigestOf(file, piece, ignore));
  if (digest != piece.md5) return {Code::kInvalid, "its bytes do not have their checksum"};
  return {};
}

Result<std::string> ReadPiece(const Source& file, const Piece& piece) {
  TRY(CheckPiece(file, piece));
  ASSIGN_OR_RETURN(std::string bytes, ReadHead(*StreamOf(file, piece), piece.bytes));
  if (bytes.size() != piece.bytes) return Status(Code::kInvalid, "it unpacks to fewer bytes");
  return bytes;
}

}  // namespace debrief::shards
