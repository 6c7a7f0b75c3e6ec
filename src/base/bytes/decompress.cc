// Gzip is decoded by ISA-L (three times as fast as zlib), zstd by libzstd. Unpacker has what both
// need: the window of packed input, the bound on expansion, and the order of good bytes and
// trouble.
#include "base/bytes/decompress.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/utf16.h"

namespace debrief {

namespace {

constexpr size_t kInputBytes = 256 << 10;
constexpr size_t kOutputBytes = 256 << 10;
// ISA-L keeps up to this much output to itself, and drops it when it meets an error. A call with
// more room than this takes all of it, so that nothing is lost.
constexpr size_t kHeldBack = sizeof(inflate_state::tmp_out_buffer);
static_assert(kOutputBytes > 2 * kHeldBack);
constexpr size_t kMaxStep = 1 << 20;  // how far output can run past a limit
constexpr int kMaxWindowLog = 27;

class Unpacker : public ByteStream {
 public:
  Unpacker(std::unique_ptr<ByteStream> in, const ExpansionLimits& limits)
      : in_(std::move(in)), limits_(limits), input_(new char[kInputBytes]) {}

  Result<size_t> Read(char* out, size_t capacity) final {
    if (ready_.empty() && capacity >= kOutputBytes) return Produce(out, capacity);
    if (ready_.empty()) {
      if (output_ == nullptr) output_.reset(new char[kOutputBytes]);
      ASSIGN_OR_RETURN(const size_t made, Produce(output_.get(), kOutputBytes));
      ready_ = {output_.get(), made};
    }
    const size_t count = ready_.copy(out, capacity);
    ready_.remove_prefix(count);
    return count;
  }

 protected:
  // Decodes into [out, out + capacity) until it is nearly full, the stream ends or something is
  // wrong. `made` counts the good bytes in each of these cases; it is 0 only in the last two.
  virtual Status Decode(char* out, size_t capacity, size_t& made) = 0;

  // Packed bytes that nobody has looked at; empty only at the end of `in`.
  Result<std::string_view> Fill() {
    if (!unread_.empty()) return unread_;
    ASSIGN_OR_RETURN(const size_t got, in_->Read(input_.get(), kInputBytes));
    taken_ += got;
    unread_ = {input_.get(), got};
    return unread_;
  }

  void Keep(std::string_view unread) { unread_ = unread; }
  std::string_view unread() const { return unread_; }

  Status Trouble(Code code, std::string message) const {
    return Status(code, std::move(message))
        .At({.file = {}, .offset = static_cast<int64_t>(consumed())});
  }

  Status Cut(std::string_view format) const {
    return Trouble(Code::kTruncated, fmt::format("the {} stream ends early", format))
        .Remedy("Copy the file again if the original is longer.");
  }

 private:
  uint64_t consumed() const { return taken_ - unread_.size(); }

  Result<size_t> Produce(char* out, size_t capacity) {
    size_t made = 0;
    if (trouble_.ok()) trouble_ = Decode(out, std::min(capacity, kMaxStep), made);
    made_ += made;
    if (trouble_.ok()) {
      trouble_ = limits_.Check(consumed(), made_)
                     .At({.file = {}, .offset = static_cast<int64_t>(consumed())});
    }
    if (made == 0 && !trouble_.ok()) return trouble_;
    return made;
  }

  std::unique_ptr<ByteStream> in_;
  ExpansionLimits limits_;
  std::unique_ptr<char[]> input_;
  std::string_view unread_;  // part of input_
  uint64_t taken_ = 0;       // bytes got from in_
  uint64_t made_ = 0;
  std::unique_ptr<char[]> output_;  // for callers with small buffers
  std::string_view ready_;          // part of output_
  Status trouble_;
};

//   member  = header, deflate blocks, CRC-32, length mod 2^32      (checked by ISA-L)
//   stream  = member { zeros member } zeros
class GzipUnpacker final : public Unpacker {
 public:
  GzipUnpacker(std::unique_ptr<ByteStream> in, const ExpansionLimits& limits)
      : Unpacker(std::move(in), limits), state_(std::make_unique<inflate_state>()) {
    isal_inflate_init(state_.get());
  }

 protected:
  Status Decode(char* out, size_t capacity, size_t& made) override {
    state_->next_out = reinterpret_cast<uint8_t*>(out);
    state_->avail_out = static_cast<uint32_t>(capacity);
    Status status = Inflate();
    made = capacity - state_->avail_out;
    return status;
  }

 private:
  Status Inflate() {
    while (state_->avail_out > kHeldBack) {
      if (!in_member_) {
        ASSIGN_OR_RETURN(const bool more, BeginMember());
        if (!more) break;
      }
      TRY(Step());
    }
    return {};
  }

  // False when nothing but zeros is left.
  Result<bool> BeginMember() {
    ASSIGN_OR_RETURN(std::string_view input, Fill());
    if (first_ && input.empty()) return Cut("gzip");
    while (!first_ && !input.empty() && input.front() == '\0') {
      Keep(input.substr(std::min(input.find_first_not_of('\0'), input.size())));
      ASSIGN_OR_RETURN(input, Fill());
    }
    if (input.empty()) return false;
    if (input.front() != '\x1f') {
      return Trouble(Code::kInvalid,
                     first_ ? "not a gzip stream" : "the bytes after the gzip stream are not gzip");
    }
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP;
    isal_gzip_header_init(&header_);
    in_member_ = in_header_ = true;
    first_ = false;
    return true;
  }

  // isal_inflate would read the header, too, but forgets its flags when that comes in pieces.
  int Call() {
    if (!in_header_) return isal_inflate(state_.get());
    const int code = isal_read_gzip_header(state_.get(), &header_);
    in_header_ = code != ISAL_DECOMP_OK;
    return code;
  }

  // One call of the decoder. It holds back output and input of its own, so the end of `in` means
  // something only after a call that did nothing.
  Status Step() {
    const std::string_view input = unread();
    const uint32_t room = state_->avail_out;
    state_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(input.data()));
    state_->avail_in = static_cast<uint32_t>(input.size());
    const int code = Call();
    // ISA-L reads ahead. Where a stream breaks or ends within what it read ahead, it counts below
    // zero: `avail_in` says more than there was.
    const bool overran = state_->avail_in > input.size();
    Keep(input.substr(overran ? input.size() : input.size() - state_->avail_in));
    if (code < 0) return Trouble(Code::kInvalid, Explain(code));
    if (overran) return Cut("gzip");
    in_member_ = state_->block_state != ISAL_BLOCK_FINISH;
    if (!in_member_ || state_->avail_out != room || unread().size() != input.size()) return {};
    if (!input.empty()) return Trouble(Code::kInvalid, "the gzip decoder does not go on");
    ASSIGN_OR_RETURN(const std::string_view more, Fill());
    return more.empty() ? Cut("gzip") : Status();
  }

  static std::string Explain(int code) {
    switch (code) {
      case ISAL_INVALID_WRAPPER:
        return "broken gzip header";
      case ISAL_UNSUPPORTED_METHOD:
        return "gzip header with a method that is not deflate";
      case ISAL_INCORRECT_CHECKSUM:
        return "gzip checksum does not match";
      default:
        return "broken deflate data";
    }
  }

  std::unique_ptr<inflate_state> state_;  // 90 KiB
  isal_gzip_header header_ = {};
  bool in_header_ = false;
  bool in_member_ = false;
  bool first_ = true;  // no member has begun yet
};

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Frames in a row, skippable ones among them: libzstd begins the next one by itself.
class ZstdUnpacker final : public Unpacker {
 public:
  ZstdUnpacker(std::unique_ptr<ByteStream> in, const ExpansionLimits& limits)
      : Unpacker(std::move(in), limits), context_(ZSTD_createDCtx()) {
    if (context_) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

 protected:
  Status Decode(char* out, size_t capacity, size_t& made) override {
    if (!context_) return Trouble(Code::kLimit, "no memory for the zstd decoder");
    ZSTD_outBuffer output = {out, capacity, 0};
    Status status;
    while (status.ok() && output.pos < capacity && !ended_) status = Step(output);
    made = output.pos;
    return status;
  }

 private:
  // A call with no input flushes what the decoder holds; only one that brings nothing shows the
  // end.
  Status Step(ZSTD_outBuffer& output) {
    ASSIGN_OR_RETURN(const std::string_view bytes, Fill());
    ended_ = bytes.empty() && at_frame_end_;
    if (ended_) return {};
    const size_t before = output.pos;
    ZSTD_inBuffer input = {bytes.data(), bytes.size(), 0};
    const size_t code = ZSTD_decompressStream(context_.get(), &output, &input);
    Keep(bytes.substr(input.pos));
    if (ZSTD_isError(code)) return Explain(code);
    at_frame_end_ = code == 0;
    if (bytes.empty() && output.pos == before) return Cut("zstd");
    return {};
  }

  Status Explain(size_t code) const {
    const std::string message = fmt::format("broken zstd data: {}", ZSTD_getErrorName(code));
    switch (ZSTD_getErrorCode(code)) {
      case ZSTD_error_frameParameter_windowTooLarge:
        return Trouble(Code::kLimit, "the zstd stream asks for a window of more than 128 MiB")
            .Remedy("Unpack it first: zstd -d --long=31.");
      case ZSTD_error_memory_allocation:
        return Trouble(Code::kLimit, "no memory for the window of the zstd stream");
      case ZSTD_error_dictionary_wrong:
        return Trouble(Code::kUnsupported, "the zstd stream needs a dictionary");
      default:
        return Trouble(Code::kInvalid, message);
    }
  }

  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  bool at_frame_end_ = false;
  bool ended_ = false;
};

}  // namespace

Packing DetectPacking(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Packing::kGzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  // A skippable frame (0x184D2A50 to 5F, little-endian) may come first: pzstd writes one.
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18") {
    return Packing::kZstd;
  }
  return IsUtf16(head) ? Packing::kUtf16 : Packing::kNone;
}

Status ExpansionLimits::Check(uint64_t in, uint64_t out) const {
  if (out > max_bytes) {
    return {Code::kLimit, fmt::format("unpacks to more than {} bytes", max_bytes)};
  }
  if (out <= free_bytes || out / max_ratio < in) return {};
  return {Code::kLimit, fmt::format("unpacks to more than {} times its size", max_ratio)};
}

std::unique_ptr<ByteStream> Decompress(Packing packing, std::unique_ptr<ByteStream> in,
                                       const ExpansionLimits& limits) {
  switch (packing) {
    case Packing::kGzip:
      return std::make_unique<GzipUnpacker>(std::move(in), limits);
    case Packing::kZstd:
      return std::make_unique<ZstdUnpacker>(std::move(in), limits);
    case Packing::kUtf16:
      return MakeUtf8Stream(std::move(in));
    case Packing::kNone:
      break;
  }
  return in;
}

}  // namespace debrief
