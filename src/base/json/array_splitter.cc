#include "base/json/array_splitter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#if defined(__AVX2__) && defined(__PCLMUL__)
#define DEBRIEF_SPLIT_AVX2 1
#include <immintrin.h>
#endif

namespace debrief {

namespace {

constexpr size_t kBlockBytes = 64;
constexpr uint64_t kNowhere = ~uint64_t{0};

// What the bytes of a block are, a bit a byte, strings not yet considered.
struct BlockBits {
  uint64_t quote = 0;
  uint64_t backslash = 0;
  uint64_t open = 0;   // { [
  uint64_t close = 0;  // } ]
  uint64_t comma = 0;
  uint64_t colon = 0;
  uint64_t solid = 0;  // neither space nor control character
};

// ---- The two ways to make masks.

BlockBits ClassifyPortable(const char* block) {
  BlockBits bits;
  for (size_t i = 0; i < kBlockBytes; ++i) {
    const uint64_t bit = uint64_t{1} << i;
    const char c = block[i];
    if (c == '"') bits.quote |= bit;
    if (c == '\\') bits.backslash |= bit;
    if (c == '{' || c == '[') bits.open |= bit;
    if (c == '}' || c == ']') bits.close |= bit;
    if (c == ',') bits.comma |= bit;
    if (c == ':') bits.colon |= bit;
    if (static_cast<uint8_t>(c) > ' ') bits.solid |= bit;
  }
  return bits;
}

// Bit i of the result is the XOR of the bits 0 to i: set from each opening quote up to its closing
// one.
uint64_t PrefixXorPortable(uint64_t bits) {
  for (int shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

#ifdef DEBRIEF_SPLIT_AVX2
struct Vectors {
  __m256i low, high;

  explicit Vectors(const char* block)
      : low(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block))),
        high(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + 32))) {}

  static uint64_t Mask(__m256i low, __m256i high) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
           static_cast<uint64_t>(static_cast<uint32_t>(_mm256_movemask_epi8(high))) << 32;
  }
  uint64_t Equal(char c) const {
    __m256i wanted = _mm256_set1_epi8(c);
    return Mask(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
  }
  uint64_t AtMost(char c) const {  // unsigned
    __m256i limit = _mm256_set1_epi8(c);
    return Mask(_mm256_cmpeq_epi8(_mm256_min_epu8(low, limit), low),
                _mm256_cmpeq_epi8(_mm256_min_epu8(high, limit), high));
  }
  void Or(char c) {
    low = _mm256_or_si256(low, _mm256_set1_epi8(c));
    high = _mm256_or_si256(high, _mm256_set1_epi8(c));
  }
};

BlockBits ClassifyAvx2(const char* block) {
  Vectors bytes(block);
  BlockBits bits;
  bits.quote = bytes.Equal('"');
  bits.backslash = bytes.Equal('\\');
  bits.comma = bytes.Equal(',');
  bits.colon = bytes.Equal(':');
  bits.solid = ~bytes.AtMost(' ');
  bytes.Or(0x20);  // turns [ ] into { } and nothing else into these
  bits.open = bytes.Equal('{');
  bits.close = bytes.Equal('}');
  return bits;
}

uint64_t PrefixXorAvx2(uint64_t bits) {
  // A carry-less product with all ones is exactly the prefix XOR.
  __m128i product =
      _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<int64_t>(bits)), _mm_set1_epi8('\xFF'), 0);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}
#else
BlockBits ClassifyAvx2(const char* block) { return ClassifyPortable(block); }
uint64_t PrefixXorAvx2(uint64_t bits) { return PrefixXorPortable(bits); }
#endif

// ---- Which bytes are outside of strings, carried from block to block.

class StringFilter {
 public:
  // Clears the bits that are inside of strings. Of the block, `bytes` are text.
  template <bool kPortable>
  void Apply(BlockBits& bits, size_t bytes) {
    uint64_t quotes = bits.quote & ~Escaped(bits.backslash, bytes);
    uint64_t inside = (kPortable ? PrefixXorPortable(quotes) : PrefixXorAvx2(quotes)) ^ inside_;
    inside_ = (inside >> 63) != 0 ? ~uint64_t{0} : 0;
    bits.open &= ~inside;
    bits.close &= ~inside;
    bits.comma &= ~inside;
    bits.colon &= ~inside;
  }

 private:
  // The bytes that a backslash stands before, itself not escaped. Backslashes are rare enough for a
  // loop that takes them one by one.
  uint64_t Escaped(uint64_t backslash, size_t bytes) {
    uint64_t escaped = escapes_next_;
    backslash &= ~escaped;
    while (backslash != 0) {
      uint64_t first = backslash & (0 - backslash);
      escaped |= first << 1;
      backslash &= ~(first | first << 1);
      if (first == uint64_t{1} << (bytes - 1)) {
        escapes_next_ = 1;
        return escaped;
      }
    }
    escapes_next_ = 0;
    return escaped;
  }

  uint64_t inside_ = 0;        // all ones when the block begins inside of a string
  uint64_t escapes_next_ = 0;  // 1 when the block before ended with a backslash that escapes
};

// ---- The walk.

class Splitter {
 public:
  Splitter(const Source& source, std::string_view key, uint64_t batch_bytes)
      : source_(source), key_(key), batch_bytes_(batch_bytes) {}

  template <bool kPortable>
  Result<JsonArraySplit> Run(size_t window_bytes) {
    uint64_t size = source_.size();
    while (mode_ != Mode::kDone && window_begin_ < size) {
      ASSIGN_OR_RETURN(window_, source_.View(window_begin_, window_bytes));
      if (window_.size() == 0) break;
      Window<kPortable>();
      TRY(status_);
      window_begin_ += window_.size();
    }
    Finish();
    return std::move(split_);
  }

 private:
  enum class Mode {
    kStart,   // before the document
    kObject,  // in the top-level object, at depth 1
    kArray,   // in the array that is split
    kDone,    // behind the document, or where it is broken
  };

  template <bool kPortable>
  void Window() {
    const char* data = window_.data();
    size_t size = window_.size();
    for (size_t at = 0; at < size && mode_ != Mode::kDone; at += kBlockBytes) {
      size_t bytes = std::min(kBlockBytes, size - at);
      const char* block = data + at;
      char tail[kBlockBytes];
      if (bytes < kBlockBytes) {
        std::memset(tail, ' ', kBlockBytes);
        std::memcpy(tail, block, bytes);
        block = tail;
      }
      BlockBits bits = kPortable ? ClassifyPortable(block) : ClassifyAvx2(block);
      filter_.Apply<kPortable>(bits, bytes);
      if (!SkipBlock(bits)) WalkBlock(bits, window_begin_ + at);
    }
  }

  // True when the block stays above the level that matters.
  bool SkipBlock(const BlockBits& bits) {
    int closing = std::popcount(bits.close);
    if (depth_ - level_ <= closing) return false;
    depth_ += std::popcount(bits.open) - closing;
    return true;
  }

  void WalkBlock(const BlockBits& bits, uint64_t base) {
    for (int at = 0; at < 64 && mode_ != Mode::kDone;) {
      bool at_level = depth_ == level_;
      uint64_t live = bits.open | bits.close;
      if (at_level) live |= bits.comma | (mode_ == Mode::kObject ? bits.colon : 0);
      live &= ~uint64_t{0} << at;
      int next = std::countr_zero(live);  // 64 when there is none
      uint64_t before = next < 64 ? (uint64_t{1} << next) - 1 : ~uint64_t{0};
      if (at_level) NoteSolid(bits.solid & before & (~uint64_t{0} << at), base);
      if (next == 64) return;
      uint64_t bit = uint64_t{1} << next;
      uint64_t offset = base + static_cast<uint64_t>(next);
      if ((bits.open & bit) != 0) {
        Open(offset);
      } else if ((bits.close & bit) != 0) {
        Close(offset);
      } else if ((bits.colon & bit) != 0) {
        Colon();
      } else {
        Comma();
      }
      at = next + 1;
    }
  }

  // The piece (key, value, element) at this level spans from its first to its last solid byte.
  void NoteSolid(uint64_t solid, uint64_t base) {
    if (solid == 0) return;
    if (piece_.begin == kNowhere)
      piece_.begin = base + static_cast<uint64_t>(std::countr_zero(solid));
    piece_.end = base + 64 - static_cast<uint64_t>(std::countl_zero(solid));
    ends_with_bracket_ = false;
  }

  void Open(uint64_t offset) {
    if (depth_++ != level_) return;
    bool is_array = window_.data()[offset - window_begin_] == '[';
    if (mode_ == Mode::kStart) return OpenDocument(is_array, offset);
    bool is_wanted = mode_ == Mode::kObject && is_array && !split_.found && has_key_ &&
                     piece_.begin == kNowhere && member_key_ == key_;
    if (is_wanted) return OpenArray(offset);
    if (piece_.begin == kNowhere) piece_.begin = offset;
  }

  void OpenDocument(bool is_array, uint64_t offset) {
    static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    bool only_mark_before = piece_.begin == kNowhere || (piece_.size() == kByteOrderMark.size() &&
                                                         Text(piece_) == kByteOrderMark);
    if (!only_mark_before || is_array != key_.empty()) {
      mode_ = Mode::kDone;
    } else if (is_array) {
      OpenArray(offset);
    } else {
      mode_ = Mode::kObject;
      level_ = 1;
      piece_ = kNoPiece;
    }
  }

  void OpenArray(uint64_t offset) {
    mode_ = Mode::kArray;
    level_ = depth_;
    split_.found = true;
    split_.array_begin = offset;
    split_.array_end = offset + 1;
    piece_ = kNoPiece;
  }

  void Close(uint64_t offset) {
    if (depth_ > level_) {
      if (--depth_ > level_) return;
      piece_.end = offset + 1;
      ends_with_bracket_ = true;
      return;
    }
    char expected = mode_ == Mode::kArray ? ']' : '}';
    if (mode_ == Mode::kStart || window_.data()[offset - window_begin_] != expected) {
      mode_ = Mode::kDone;
      return;
    }
    mode_ == Mode::kArray ? CloseArray(offset) : CloseDocument();
  }

  void CloseArray(uint64_t offset) {
    EndElement();
    split_.closed = true;
    split_.array_end = offset + 1;
    if (key_.empty()) return CloseDocument();
    mode_ = Mode::kObject;
    level_ = --depth_;
    has_key_ = false;  // the member is told as the array, not as one of the others
  }

  void CloseDocument() {
    if (mode_ == Mode::kObject) EndMember();
    split_.document_closed = true;
    mode_ = Mode::kDone;
  }

  void Comma() {
    if (mode_ == Mode::kArray) {
      if (piece_.begin == kNowhere) EndBatch();  // ",,": no batch may hold it
      EndElement();
    } else if (mode_ == Mode::kObject) {
      EndMember();
    } else {
      mode_ = Mode::kDone;
    }
  }

  void Colon() {
    std::string_view key = piece_.size() <= JsonArraySplit::kMaxKeyBytes + 2 ? Text(piece_) : "";
    has_key_ = !after_colon_ && key.size() >= 2 && key.front() == '"' && key.back() == '"';
    if (has_key_) member_key_ = key.substr(1, key.size() - 2);
    after_colon_ = true;
    piece_ = kNoPiece;
  }

  void EndMember() {
    bool is_kept =
        has_key_ && piece_.begin != kNowhere && split_.others.size() < JsonArraySplit::kMaxOthers;
    if (is_kept) split_.others.push_back({member_key_, piece_});
    has_key_ = false;
    after_colon_ = false;
    piece_ = kNoPiece;
  }

  void EndElement() {
    if (piece_.begin == kNowhere) return;
    if (batch_.begin != kNowhere && piece_.end - batch_.begin > batch_bytes_) EndBatch();
    if (batch_.begin == kNowhere) batch_.begin = piece_.begin;
    batch_.end = piece_.end;
    split_.array_end = piece_.end;
    ++split_.elements;
    piece_ = kNoPiece;
  }

  void EndBatch() {
    if (batch_.begin != kNowhere) split_.batches.push_back(batch_);
    batch_ = kNoPiece;
  }

  void Finish() {
    bool is_whole = depth_ == level_ && ends_with_bracket_;
    if (mode_ == Mode::kArray && is_whole) EndElement();
    EndBatch();
  }

  // Bytes of the document, nearly always out of the window at hand. Valid until the next call.
  std::string_view Text(ByteRange range) {
    if (range.begin == kNowhere) return {};
    if (range.begin >= window_begin_) {
      return window_.text().substr(range.begin - window_begin_, range.size());
    }
    Result<ByteView> view = source_.View(range.begin, range.size());
    if (!view.ok()) {
      status_ = view.status();
      mode_ = Mode::kDone;
      return {};
    }
    text_ = std::move(view).value();
    return text_.text();
  }

  static constexpr ByteRange kNoPiece = {kNowhere, kNowhere};

  const Source& source_;
  std::string_view key_;
  uint64_t batch_bytes_;

  ByteView window_;
  uint64_t window_begin_ = 0;
  ByteView text_;  // what Text() had to read again
  Status status_;
  StringFilter filter_;

  Mode mode_ = Mode::kStart;
  int64_t depth_ = 0;  // brackets open
  int64_t level_ = 0;  // the depth at which bytes matter: that of the array or the top-level object
  ByteRange piece_ = kNoPiece;
  bool ends_with_bracket_ = false;  // the last solid byte of the piece is its closing bracket
  bool after_colon_ = false;        // in the value of a member
  bool has_key_ = false;            // of which member_key_ is the key
  std::string member_key_;
  ByteRange batch_ = kNoPiece;
  JsonArraySplit split_;
};

}  // namespace

Result<JsonArraySplit> SplitJsonArray(const Source& source, std::string_view key,
                                      uint64_t batch_bytes, JsonSplitOptions options) {
  Splitter splitter(source, key, batch_bytes);
  size_t window = std::max<size_t>(options.window_bytes, 1);
  return options.portable ? splitter.Run<true>(window) : splitter.Run<false>(window);
}

}  // namespace debrief
