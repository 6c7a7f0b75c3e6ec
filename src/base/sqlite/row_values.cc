#include "base/sqlite/row_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/sqlite/table_pages.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

// How a value is written; below these lie integers of 1, 2, 3, 4, 6 and 8 bytes.
constexpr uint64_t kInt64Kind = 6, kDoubleKind = 7, kZeroKind = 8, kOneKind = 9, kFirstText = 12;

uint64_t BytesOfKind(uint64_t kind) {
  constexpr uint8_t kBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return kind < kFirstText ? kBytes[kind] : (kind - kFirstText) / 2;
}

template <typename Unsigned>
Unsigned BigEndianAt(const char* at) {
  Unsigned number = 0;
  std::memcpy(&number, at, sizeof number);
  if constexpr (sizeof number == 2) return __builtin_bswap16(number);
  if constexpr (sizeof number == 4) return __builtin_bswap32(number);
  if constexpr (sizeof number == 8) return __builtin_bswap64(number);
  return number;
}

// The sign is in the first byte.
int64_t IntegerAt(const char* at, uint64_t kind) {
  switch (kind) {
    case 1:
      return static_cast<int8_t>(*at);
    case 2:
      return static_cast<int16_t>(BigEndianAt<uint16_t>(at));
    case 3:
      return static_cast<int8_t>(*at) * int64_t{1 << 16} + BigEndianAt<uint16_t>(at + 1);
    case 4:
      return static_cast<int32_t>(BigEndianAt<uint32_t>(at));
    case 5:
      return static_cast<int16_t>(BigEndianAt<uint16_t>(at)) * (int64_t{1} << 32) +
             BigEndianAt<uint32_t>(at + 2);
    default:
      return static_cast<int64_t>(BigEndianAt<uint64_t>(at));
  }
}

double DoubleAt(const char* at) { return std::bit_cast<double>(BigEndianAt<uint64_t>(at)); }

// As SQLite rounds: towards zero, and what is too large is the largest.
int64_t Truncated(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (std::isnan(value)) return 0;
  if (value <= -kLimit) return std::numeric_limits<int64_t>::min();
  if (value >= kLimit) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

// The number that a text begins with.
int64_t LeadingNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc::result_out_of_range) return number;
  return text.starts_with('-') ? std::numeric_limits<int64_t>::min()
                               : std::numeric_limits<int64_t>::max();
}

std::string TextOf(double value) {
  std::string text = fmt::format("{}", value);
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

std::string Utf8Of(std::string_view text, bool is_big) {
  std::string utf8;
  auto unit = [&](size_t at) {
    const auto first = static_cast<uint8_t>(text[at]), second = static_cast<uint8_t>(text[at + 1]);
    return static_cast<uint32_t>(is_big ? first << 8 | second : second << 8 | first);
  };
  for (size_t at = 0; at + 1 < text.size(); at += 2) {
    uint32_t code = unit(at);
    const bool is_first_half = code >= 0xD800 && code < 0xDC00 && at + 3 < text.size();
    if (is_first_half && unit(at + 2) >= 0xDC00 && unit(at + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    }
    AppendUtf8(code, utf8);
  }
  return utf8;
}

}  // namespace

RowValues::RowValues(const std::vector<size_t>& places, SqliteEncoding encoding)
    : encoding_(encoding), kinds_(places.size()), begins_(places.size()), texts_(places.size()) {
  for (size_t slot = 0; slot < places.size(); ++slot) {
    if (places[slot] != kNoColumn)
      wanted_.push_back({static_cast<uint32_t>(places[slot]), static_cast<uint32_t>(slot)});
  }
  std::sort(wanted_.begin(), wanted_.end(),
            [](const Place& a, const Place& b) { return a.column < b.column; });
}

bool RowValues::Parse(std::string_view row, uint64_t bytes) {
  row_ = row;
  size_t at = 0;
  const uint64_t head_bytes = ReadVarint(row, at);
  needed_ = head_bytes;
  if (head_bytes < at || head_bytes > bytes) return needed_ = 0, false;
  if (head_bytes > row.size()) return false;
  const std::string_view head = row.substr(0, static_cast<size_t>(head_bytes));
  uint64_t begin = head_bytes;
  uint32_t column = 0;
  size_t next = 0;
  for (; at < head.size() && next < wanted_.size(); ++column) {
    const uint64_t kind = ReadVarint(head, at);
    const uint64_t end = begin + BytesOfKind(kind);
    if (end > bytes) return needed_ = 0, false;
    for (; next < wanted_.size() && wanted_[next].column == column; ++next) {
      kinds_[wanted_[next].slot] = kind;
      begins_[wanted_[next].slot] = begin;
      needed_ = std::max(needed_, end);
    }
    begin = end;
  }
  // A column that was added to the table later is not in rows that were there before.
  for (; next < wanted_.size(); ++next) kinds_[wanted_[next].slot] = 0;
  return needed_ <= row.size();
}

std::string_view RowValues::BytesOf(size_t column) const {
  return row_.substr(static_cast<size_t>(begins_[column]),
                     static_cast<size_t>(BytesOfKind(kinds_[column])));
}

int64_t RowValues::Int(size_t column) const {
  const uint64_t kind = kinds_[column];
  if (kind == kZeroKind || kind == 0) return 0;
  if (kind == kOneKind) return 1;
  if (kind >= kFirstText) return LeadingNumber(Text(column));
  const char* at = row_.data() + begins_[column];
  if (kind <= kInt64Kind) return IntegerAt(at, kind);
  return kind == kDoubleKind ? Truncated(DoubleAt(at)) : 0;
}

std::string_view RowValues::Text(size_t column) const {
  const uint64_t kind = kinds_[column];
  if (kind == 0) return {};
  std::string& text = texts_[column];
  if (kind < kFirstText) {
    text = kind == kDoubleKind ? TextOf(DoubleAt(row_.data() + begins_[column]))
                               : std::to_string(Int(column));
    return text;
  }
  const bool is_text = kind % 2 == 1;  // else bytes
  if (!is_text || encoding_ == SqliteEncoding::kUtf8) return BytesOf(column);
  text = Utf8Of(BytesOf(column), encoding_ == SqliteEncoding::kUtf16Big);
  return text;
}

}  // namespace debrief
