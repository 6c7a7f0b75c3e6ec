// A JSON value in nine bytes. Text is interned; the strings that traces are full of and that never
// repeat, numbers in quotes ("TS1": "0x9919c0", "Bytes": "262144"), are kept as the number and how
// it was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/pools/string_pool.h"

namespace debrief::accel {

enum class ValueKind : uint8_t {
  kNull,
  kBool,         // integer is 0 or 1
  kInteger,      // integer
  kUnsigned,     // integer, as uint64_t: above the largest int64_t
  kNumber,       // number; NaN and infinities included
  kText,         // text
  kDecimalText,  // integer; the string "-12": no sign but -, no leading zeros
  kHexText,      // integer; the string "0x1f": small letters, no leading zeros
  kJson,         // text: what is nested, and integers above 64 bits, as it stood in the input
};

struct Value {
  union {
    int64_t integer = 0;
    double number;
    StringId text;
  };
  ValueKind kind = ValueKind::kNull;

  static Value Of(bool) = delete;
  static Value Integer(int64_t value);
  static Value Unsigned(uint64_t value);
  static Value Number(double value);
  static Value Bool(bool value);
  static Value Text(StringId text);
  static Value Json(StringId text);
  static Value DecimalText(int64_t value);
  static Value HexText(int64_t value);
  // A string, in its shortest form.
  static Value Of(std::string_view text, StringPool& strings);

  bool IsNull() const { return kind == ValueKind::kNull; }
  // kInteger or kUnsigned.
  bool IsInteger() const { return kind == ValueKind::kInteger || kind == ValueKind::kUnsigned; }
  // One of the three kinds that are a string in JSON.
  bool IsString() const {
    return kind == ValueKind::kText || kind == ValueKind::kDecimalText ||
           kind == ValueKind::kHexText;
  }

  // An integer, or a number in quotes; truncated when it has a fraction, null when it is none.
  std::optional<int64_t> AsInteger(const StringPool& strings) const;
  // A number, or one in quotes.
  std::optional<double> AsNumber(const StringPool& strings) const;
  // What str() gives in Python: the text without quotes, `True`, `1.5`.
  std::string AsText(const StringPool& strings) const;

  // The same kind and the same bits.
  bool operator==(const Value& other) const {
    return kind == other.kind &&
           (kind == ValueKind::kText || kind == ValueKind::kJson ? text == other.text
                                                                 : integer == other.integer);
  }
};

struct ValueHash {
  size_t operator()(const Value& value) const;
};

}  // namespace debrief::accel
