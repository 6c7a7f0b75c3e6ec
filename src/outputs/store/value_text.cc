// Values of a DuckDB result as text and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include "base/text/escape.h"
#include "outputs/store/value_type.h"

namespace debrief::outputs::store {

namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

constexpr int64_t kSecondsPerDay = 86400;

template <typename... Args>
void Print(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

Int128 ToInt128(const duckdb_hugeint& value) {
  return static_cast<Int128>((static_cast<UInt128>(static_cast<uint64_t>(value.upper)) << 64) |
                             value.lower);
}

UInt128 ToUInt128(const duckdb_uhugeint& value) {
  return (static_cast<UInt128>(value.upper) << 64) | value.lower;
}

// The whole number at `row`, of any width up to 128 bits and signed.
Int128 StoredInteger(const VectorView& values, duckdb_type storage, uint64_t row) {
  switch (storage) {
    case DUCKDB_TYPE_UTINYINT:
      return values.At<uint8_t>(row);
    case DUCKDB_TYPE_USMALLINT:
      return values.At<uint16_t>(row);
    case DUCKDB_TYPE_UINTEGER:
      return values.At<uint32_t>(row);
    case DUCKDB_TYPE_UBIGINT:
      return values.At<uint64_t>(row);
    case DUCKDB_TYPE_TINYINT:
      return values.At<int8_t>(row);
    case DUCKDB_TYPE_SMALLINT:
      return values.At<int16_t>(row);
    case DUCKDB_TYPE_INTEGER:
      return values.At<int32_t>(row);
    case DUCKDB_TYPE_BIGINT:
      return values.At<int64_t>(row);
    default:
      return ToInt128(values.At<duckdb_hugeint>(row));
  }
}

void AppendDecimal(Int128 value, int scale, std::string& out) {
  bool negative = value < 0;
  std::string digits = fmt::format(
      "{}", negative ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value));
  auto fraction = static_cast<size_t>(scale);
  if (digits.size() <= fraction) digits.insert(0, fraction + 1 - digits.size(), '0');
  if (fraction > 0) digits.insert(digits.size() - fraction, 1, '.');
  Print(out, "{}{}", negative ? "-" : "", digits);
}

// HH:MM:SS and as many digits as are needed; `unit` is how many there are in a second.
void AppendClock(int64_t count, int64_t unit, std::string& out) {
  int64_t seconds = count / unit;
  Print(out, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  int64_t fraction = count % unit;
  if (fraction == 0) return;
  std::string digits = fmt::format("{}", unit + fraction).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  Print(out, ".{}", digits);
}

// A date of the proleptic calendar from days since 1970 (the algorithm counts years from March, so
// that the leap day is a year's last; eras of 400 years have 146097 days).
void AppendDate(int64_t days, std::string& out) {
  int64_t shifted = days + 719468;
  int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  int64_t day_of_era = shifted - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month_from_march = (5 * day_of_year + 2) / 153;
  int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  Print(out, "{:04}-{:02}-{:02}", year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day);
}

// DuckDB's infinities are the largest value and its negative.
template <typename T>
bool AppendInfinity(T value, std::string& out) {
  constexpr T kInfinity = std::numeric_limits<T>::max();
  if (value != kInfinity && value != -kInfinity) return false;
  out += value > 0 ? "infinity" : "-infinity";
  return true;
}

int64_t UnitsInSecond(duckdb_type instant) {
  if (instant == DUCKDB_TYPE_TIMESTAMP_S) return 1;
  if (instant == DUCKDB_TYPE_TIMESTAMP_MS) return 1000;
  return instant == DUCKDB_TYPE_TIMESTAMP_NS ? 1'000'000'000 : 1'000'000;
}

void AppendInstant(int64_t count, int64_t unit, std::string& out) {
  if (AppendInfinity(count, out)) return;
  int64_t per_day = unit * kSecondsPerDay;
  int64_t days = count / per_day - (count % per_day < 0 ? 1 : 0);
  AppendDate(days, out);
  out += ' ';
  AppendClock(count - days * per_day, unit, out);
}

void AppendInterval(const duckdb_interval& value, std::string& out) {
  Print(out, "{} months {} days {}", value.months, value.days, value.micros < 0 ? "-" : "");
  AppendClock(value.micros < 0 ? -value.micros : value.micros, 1'000'000, out);
}

void AppendUuid(const duckdb_hugeint& value, std::string& out) {
  // Stored with its first bit turned, so that signed order is the order of the text.
  uint64_t high = static_cast<uint64_t>(value.upper) ^ (uint64_t{1} << 63);
  Print(out, "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
        high & 0xffff, value.lower >> 48, value.lower & 0xffff'ffff'ffff);
}

std::string_view TextAt(const VectorView& values, uint64_t row) {
  const auto& text = values.At<duckdb_string_t>(row);
  uint32_t length = text.value.inlined.length;
  constexpr uint32_t kInlined = sizeof text.value.inlined.inlined;
  return {length <= kInlined ? text.value.inlined.inlined : text.value.pointer.ptr, length};
}

void AppendBlob(std::string_view bytes, std::string& out) {
  for (char byte : bytes) Print(out, "\\x{:02X}", static_cast<uint8_t>(byte));
}

bool IsNested(duckdb_type id) {
  return id == DUCKDB_TYPE_LIST || id == DUCKDB_TYPE_ARRAY || id == DUCKDB_TYPE_STRUCT ||
         id == DUCKDB_TYPE_MAP;
}

// Values that are neither null nor nested, without quotes.
void AppendScalar(const VectorView& values, uint64_t row, std::string& out) {
  switch (values.type->id) {
    case DUCKDB_TYPE_BOOLEAN:
      out += values.At<uint8_t>(row) != 0 ? "true" : "false";
      break;
    case DUCKDB_TYPE_FLOAT:
      Print(out, "{}", values.At<float>(row));
      break;
    case DUCKDB_TYPE_DOUBLE:
      Print(out, "{}", values.At<double>(row));
      break;
    case DUCKDB_TYPE_UHUGEINT:
      Print(out, "{}", ToUInt128(values.At<duckdb_uhugeint>(row)));
      break;
    case DUCKDB_TYPE_DECIMAL:
      AppendDecimal(StoredInteger(values, values.type->storage, row), values.type->scale, out);
      break;
    case DUCKDB_TYPE_ENUM:
      out +=
          values.type->names[static_cast<size_t>(StoredInteger(values, values.type->storage, row))];
      break;
    case DUCKDB_TYPE_VARCHAR:
      out += TextAt(values, row);
      break;
    case DUCKDB_TYPE_BLOB:
      AppendBlob(TextAt(values, row), out);
      break;
    case DUCKDB_TYPE_DATE:
      if (!AppendInfinity(values.At<int32_t>(row), out)) AppendDate(values.At<int32_t>(row), out);
      break;
    case DUCKDB_TYPE_TIME:
      AppendClock(values.At<int64_t>(row), 1'000'000, out);
      break;
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      AppendInstant(values.At<int64_t>(row), UnitsInSecond(values.type->id), out);
      if (values.type->id == DUCKDB_TYPE_TIMESTAMP_TZ) out += "+00";
      break;
    case DUCKDB_TYPE_INTERVAL:
      AppendInterval(values.At<duckdb_interval>(row), out);
      break;
    case DUCKDB_TYPE_UUID:
      AppendUuid(values.At<duckdb_hugeint>(row), out);
      break;
    default:
      Print(out, "{}", StoredInteger(values, values.type->id, row));
  }
}

bool IsFinite(const VectorView& values, uint64_t row) {
  if (values.type->id == DUCKDB_TYPE_DOUBLE) return std::isfinite(values.At<double>(row));
  if (values.type->id == DUCKDB_TYPE_FLOAT) return std::isfinite(values.At<float>(row));
  return true;
}

// Elements of a list, an array or a map are [first, first + count) of the children.
struct Range {
  uint64_t first;
  uint64_t count;
};

Range ElementsAt(const VectorView& values, uint64_t row) {
  uint64_t size = values.type->array_size;
  if (values.type->id == DUCKDB_TYPE_ARRAY) return {row * size, size};
  const auto& entry = values.At<duckdb_list_entry>(row);
  return {entry.offset, entry.length};
}

using AppendValue = void (*)(const VectorView& values, uint64_t row, std::string& out);

void AppendStruct(const VectorView& values, uint64_t row, AppendValue append, std::string& out) {
  bool json = append == AppendAsJson;
  out += '{';
  for (size_t i = 0; i < values.children.size(); ++i) {
    if (i > 0) out += ", ";
    json ? AppendJsonString(out, values.type->names[i]) : void(out += values.type->names[i]);
    out += ": ";
    append(values.children[i], row, out);
  }
  out += '}';
}

// A map is [{"key": ..., "value": ...}]: its keys need not be text, those of a JSON object do.
void AppendNested(const VectorView& values, uint64_t row, AppendValue append, std::string& out) {
  if (values.type->id == DUCKDB_TYPE_STRUCT) return AppendStruct(values, row, append, out);
  auto [first, count] = ElementsAt(values, row);
  out += '[';
  for (uint64_t i = first; i < first + count; ++i) {
    if (i > first) out += ", ";
    append(values.children[0], i, out);
  }
  out += ']';
}

}  // namespace

void AppendAsText(const VectorView& values, uint64_t row, std::string& out) {
  if (values.IsNull(row) || values.type->id == DUCKDB_TYPE_SQLNULL) {
    out += "NULL";
  } else if (IsNested(values.type->id)) {
    AppendNested(values, row, AppendAsText, out);
  } else {
    AppendScalar(values, row, out);
  }
}

void AppendAsJson(const VectorView& values, uint64_t row, std::string& out) {
  const ValueType& type = *values.type;
  if (values.IsNull(row) || type.id == DUCKDB_TYPE_SQLNULL || !IsFinite(values, row)) {
    out += "null";
  } else if (IsNested(type.id)) {
    AppendNested(values, row, AppendAsJson, out);
  } else if (type.is_number || type.id == DUCKDB_TYPE_BOOLEAN) {
    AppendScalar(values, row, out);
  } else {
    std::string text;
    AppendScalar(values, row, text);
    AppendJsonString(out, text);
  }
}

uint64_t LeastBytes(const VectorView& values, uint64_t row, uint64_t enough) {
  const duckdb_type id = values.type->id;
  if (values.IsNull(row)) return 1;
  if (id == DUCKDB_TYPE_VARCHAR || id == DUCKDB_TYPE_BLOB) return TextAt(values, row).size();
  uint64_t bytes = 1;
  if (id == DUCKDB_TYPE_STRUCT) {
    for (size_t i = 0; i < values.children.size() && bytes < enough; ++i)
      bytes += LeastBytes(values.children[i], row, enough - bytes);
  } else if (IsNested(id)) {
    auto [first, count] = ElementsAt(values, row);
    if (count >= enough) return enough;
    for (uint64_t i = first; i < first + count && bytes < enough; ++i)
      bytes += LeastBytes(values.children[0], i, enough - bytes);
  }
  return bytes;
}

}  // namespace debrief::outputs::store
