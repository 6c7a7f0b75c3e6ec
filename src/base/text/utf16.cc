#include "base/text/utf16.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr size_t kUtf16Bytes = 64 << 10;  // of the input, at a time
constexpr uint32_t kReplacement = 0xFFFD;

bool IsHigh(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLow(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

void AppendUtf8(uint32_t code, std::string& out) {
  char bytes[4];
  out.append(bytes, static_cast<size_t>(PutUtf8(code, bytes) - bytes));
}

class Utf8Stream final : public ByteStream {
 public:
  explicit Utf8Stream(std::unique_ptr<ByteStream> in) : in_(std::move(in)) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    while (at_ == text_.size() && !ended_) TRY(Refill());
    const size_t count = text_.copy(out, capacity, at_);
    at_ += count;
    return count;
  }

 private:
  Status Refill() {
    text_.clear();
    at_ = 0;
    buffer_.resize(kUtf16Bytes);
    const size_t begin = has_half_ ? 1 : 0;
    buffer_[0] = half_;
    ASSIGN_OR_RETURN(const size_t got, in_->Read(buffer_.data() + begin, kUtf16Bytes - begin));
    if (got == 0) {
      Finish();
      return {};
    }
    Convert(std::string_view(buffer_).substr(0, begin + got));
    return {};
  }

  void Convert(std::string_view bytes) {
    if (first_) {
      big_endian_ = bytes.starts_with('\xFE');
      first_ = bytes.size() < 2;
      if (!first_) bytes.remove_prefix(2);
    }
    for (; bytes.size() >= 2; bytes.remove_prefix(2)) {
      const auto low = static_cast<uint8_t>(bytes[big_endian_ ? 1 : 0]);
      const auto high = static_cast<uint8_t>(bytes[big_endian_ ? 0 : 1]);
      AddUnit(static_cast<uint32_t>(high << 8 | low));
    }
    has_half_ = !bytes.empty();
    if (has_half_) half_ = bytes[0];
  }

  void AddUnit(uint32_t unit) {
    if (high_ != 0 && IsLow(unit)) {
      AppendUtf8(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), text_);
      high_ = 0;
      return;
    }
    if (high_ != 0) AppendUtf8(kReplacement, text_);
    high_ = IsHigh(unit) ? unit : 0;
    if (high_ == 0) AppendUtf8(IsLow(unit) ? kReplacement : unit, text_);
  }

  void Finish() {
    ended_ = true;
    if (has_half_ || high_ != 0) AppendUtf8(kReplacement, text_);
  }

  std::unique_ptr<ByteStream> in_;
  std::string buffer_;     // UTF-16
  std::string text_;       // UTF-8
  size_t at_ = 0;          // in text_
  uint32_t high_ = 0;      // the first half of a pair
  char half_ = 0;          // a byte whose other half has not come
  bool has_half_ = false;  // there is one
  bool first_ = true;      // the mark has not come
  bool big_endian_ = false;
  bool ended_ = false;
};

}  // namespace

bool IsUtf16(std::string_view head) {
  if (head.size() < 4) return false;
  if (head.starts_with("\xFF\xFE")) return head[2] != 0 && head[3] == 0;
  return head.starts_with("\xFE\xFF") && head[2] == 0 && head[3] != 0;
}

std::unique_ptr<ByteStream> MakeUtf8Stream(std::unique_ptr<ByteStream> in) {
  return std::make_unique<Utf8Stream>(std::move(in));
}

}  // namespace debrief
