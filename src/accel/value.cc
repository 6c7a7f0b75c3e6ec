#include "accel/value.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text/strings.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

namespace {

// The number of a text that is nothing but digits in `base`, written in the shortest way.
std::optional<int64_t> CanonicalInteger(std::string_view digits, int base) {
  if (digits.empty() || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  for (char c : digits) {
    if (!IsDigit(c) && !(base == 16 && c >= 'a' && c <= 'f')) return std::nullopt;
  }
  return ParseNumber<int64_t>(digits, base);
}

Value OfKind(ValueKind kind, int64_t integer) {
  Value out;
  out.integer = integer;
  out.kind = kind;
  return out;
}

}  // namespace

Value Value::Integer(int64_t value) { return OfKind(ValueKind::kInteger, value); }
Value Value::Unsigned(uint64_t value) {
  const auto bits = static_cast<int64_t>(value);
  return OfKind(bits < 0 ? ValueKind::kUnsigned : ValueKind::kInteger, bits);
}
Value Value::Bool(bool value) { return OfKind(ValueKind::kBool, value ? 1 : 0); }
Value Value::DecimalText(int64_t value) { return OfKind(ValueKind::kDecimalText, value); }
Value Value::HexText(int64_t value) { return OfKind(ValueKind::kHexText, value); }

Value Value::Number(double value) {
  Value out = OfKind(ValueKind::kNumber, 0);
  out.number = value;
  return out;
}

Value Value::Text(StringId text) {
  Value out = OfKind(ValueKind::kText, 0);
  out.text = text;
  return out;
}

Value Value::Json(StringId text) {
  Value out = Text(text);
  out.kind = ValueKind::kJson;
  return out;
}

Value Value::Of(std::string_view text, StringPool& strings) {
  if (text.size() > 2 && text[0] == '0' && text[1] == 'x') {
    if (auto value = CanonicalInteger(text.substr(2), 16)) return HexText(*value);
  } else if (auto value = CanonicalInteger(text, 10)) {
    return DecimalText(*value);
  }
  return Text(strings.Intern(text));
}

std::optional<int64_t> Value::AsInteger(const StringPool& strings) const {
  switch (kind) {
    case ValueKind::kBool:
    case ValueKind::kInteger:
    case ValueKind::kDecimalText:
    case ValueKind::kHexText:
      return integer;
    case ValueKind::kNumber:
      if (!(std::abs(number) < 9.2e18)) return std::nullopt;
      return static_cast<int64_t>(number);
    case ValueKind::kText:
      return PythonInteger(strings.Get(text));
    default:
      return std::nullopt;
  }
}

std::optional<double> Value::AsNumber(const StringPool& strings) const {
  switch (kind) {
    case ValueKind::kNumber:
      return number;
    case ValueKind::kUnsigned:
      return static_cast<double>(static_cast<uint64_t>(integer));
    case ValueKind::kText:
      return PythonNumber(strings.Get(text));
    case ValueKind::kNull:
    case ValueKind::kJson:
      return std::nullopt;
    default:
      return static_cast<double>(integer);
  }
}

std::string Value::AsText(const StringPool& strings) const {
  switch (kind) {
    case ValueKind::kNull:
      return "None";
    case ValueKind::kBool:
      return integer != 0 ? "True" : "False";
    case ValueKind::kNumber:
      return PythonFloat(number);
    case ValueKind::kText:
    case ValueKind::kJson:
      return std::string(strings.Get(text));
    case ValueKind::kUnsigned:
      return std::to_string(static_cast<uint64_t>(integer));
    case ValueKind::kHexText:
      return fmt::format("0x{:x}", integer);
    default:
      return std::to_string(integer);
  }
}

size_t ValueHash::operator()(const Value& value) const {
  const bool is_text = value.kind == ValueKind::kText || value.kind == ValueKind::kJson;
  const uint64_t bits =
      is_text ? static_cast<uint64_t>(value.text) : static_cast<uint64_t>(value.integer);
  uint64_t mixed = (bits + static_cast<uint64_t>(value.kind)) * 0x9e3779b97f4a7c15ull;
  return static_cast<size_t>(mixed ^ (mixed >> 32));
}

}  // namespace debrief::accel
