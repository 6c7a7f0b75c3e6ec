#include "base/json/cursor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/bytes/source.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace debrief {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view TrimEnd(std::string_view text) {
  while (!text.empty() && static_cast<uint8_t>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// The first quote or backslash in [at, end), else `end`. Reads up to 31 bytes behind: padding.
const char* FindQuoteOrBackslash(const char* at, const char* end) {
#ifdef __AVX2__
  for (; at < end; at += 32) {
    __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    __m256i marks = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                                    _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\')));
    auto mask = static_cast<uint32_t>(_mm256_movemask_epi8(marks));
    if (mask != 0) return std::min(at + __builtin_ctz(mask), end);
  }
  return end;
#else
  while (at < end && *at != '"' && *at != '\\') ++at;
  return at;
#endif
}

// Takes what follows "\u" from `raw`. Half a surrogate pair, or no digits: U+FFFD.
uint32_t TakeUnicodeEscape(std::string_view& raw) {
  constexpr uint32_t kReplacement = 0xFFFD;
  const std::optional<uint32_t> first = ParseHex(raw, 4);
  if (!first) return kReplacement;
  raw.remove_prefix(4);
  if (*first < 0xD800 || *first > 0xDFFF) return *first;
  if (*first > 0xDBFF || !raw.starts_with("\\u")) return kReplacement;
  const std::optional<uint32_t> second = ParseHex(raw.substr(2), 4);
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return kReplacement;
  raw.remove_prefix(6);
  return 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00);
}

// The byte for the escape \c, or `c` itself when JSON has no such escape.
char SimpleEscape(char c) {
  constexpr std::string_view kNames = "bfnrt", kBytes = "\b\f\n\r\t";
  const size_t at = kNames.find(c);
  return at == std::string_view::npos ? c : kBytes[at];
}

// Bare control characters in strings become blanks. Between tokens they are white space or an
// error, with or without a repair of what stands beside them.
void BlankControls(std::string& text) {
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool is_control = static_cast<uint8_t>(text[at]) < ' ';
    if (in_string && is_control) text[at] = ' ';
    if (text[at] == '"') in_string = !in_string;
    const bool escapes = in_string && text[at] == '\\' && at + 1 < text.size();
    if (escapes && static_cast<uint8_t>(text[at + 1]) >= ' ') ++at;
  }
}

Code CodeOf(simdjson::error_code code) {
  switch (code) {
    case simdjson::EMPTY:
    case simdjson::UNCLOSED_STRING:
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return Code::kTruncated;
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
    case simdjson::DEPTH_ERROR:
      return Code::kLimit;
    default:
      return Code::kInvalid;
  }
}

}  // namespace

// ---- JsonReader

Status JsonReader::Open(std::string_view text) {
  bool is_marked = text.starts_with(kByteOrderMark);
  shift_ = is_marked ? static_cast<int64_t>(kByteOrderMark.size()) : 0;
  text_ = text.substr(static_cast<size_t>(shift_));
  return Iterate();
}

Status JsonReader::OpenCopy(std::string_view text) {
  copy_.assign(text).append(kPadding, '\0');
  return Open(std::string_view(copy_).substr(0, text.size()));
}

Status JsonReader::OpenElements(std::string_view text) {
  copy_.clear();
  copy_.reserve(text.size() + 2 + kPadding);
  copy_ += '[';
  copy_ += text;
  copy_ += ']';
  size_t size = copy_.size();
  copy_.append(kPadding, '\0');
  text_ = std::string_view(copy_).substr(0, size);
  shift_ = -1;
  return Iterate();
}

Status JsonReader::Iterate() {
  repaired_ = false;
  growths_.clear();
  if (unescaped_.bytes_reserved() > 0) unescaped_ = Arena();
  for (int attempt = 0;; ++attempt) {
    auto error =
        parser_.iterate(text_.data(), text_.size(), text_.size() + kPadding).get(document_);
    if (!error) break;
    bool can_repair = error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS;
    if (!can_repair || attempt == 2) return Error(error, text_.data());
    Repair(error);
  }
  JsonKind kind = root().kind();
  if (kind == JsonKind::kObject || kind == JsonKind::kArray) return {};
  return Status(Code::kInvalid, "JSON is neither an object nor an array").At({{}, 0, -1});
}

void JsonReader::Repair(simdjson::error_code why) {
  std::string repaired(text_);
  if (why == simdjson::UTF8_ERROR) {
    repaired = RepairUtf8();
  } else {
    BlankControls(repaired);
  }
  size_t size = repaired.size();
  repaired.append(kPadding, '\0');
  copy_ = std::move(repaired);
  text_ = std::string_view(copy_).substr(0, size);
  repaired_ = true;
}

std::string JsonReader::RepairUtf8() {
  std::string repaired;
  repaired.reserve(text_.size() + kPadding);
  int64_t grown = 0;
  for (std::string_view rest = text_; !rest.empty();) {
    const auto* other = std::find_if(rest.begin(), rest.end(),
                                     [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
    const auto plain = static_cast<size_t>(other - rest.begin());
    repaired += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    const Utf8Step step = StepUtf8(rest);
    repaired += step.valid ? rest.substr(0, step.bytes) : kReplacementCharacter;
    rest.remove_prefix(step.bytes);
    if (step.valid || step.bytes == kReplacementCharacter.size()) continue;
    grown += static_cast<int64_t>(kReplacementCharacter.size()) - step.bytes;
    growths_.push_back({static_cast<int64_t>(repaired.size()), grown});
  }
  return repaired;
}

Status JsonReader::CheckEnd() {
  const char* at = nullptr;
  auto error = document_.current_location().get(at);
  if (error == simdjson::OUT_OF_BOUNDS) return {};
  return Error(simdjson::TRAILING_CONTENT, error ? text_.data() : at);
}

Status JsonReader::Error(simdjson::error_code code, const char* at) const {
  return Status(CodeOf(code), std::string("JSON: ") + simdjson::error_message(code))
      .At({{}, OffsetOf(at), -1});
}

int64_t JsonReader::OffsetOf(const char* at) const {
  int64_t offset = at - text_.data();
  const auto behind =
      std::upper_bound(growths_.begin(), growths_.end(), offset,
                       [](int64_t place, const Growth& growth) { return place < growth.from; });
  if (behind != growths_.begin()) offset -= std::prev(behind)->by;
  return std::max<int64_t>(offset + shift_, 0);
}

std::string_view JsonReader::Unquote(const char* begin) {
  const char* end = text_.data() + text_.size();
  const char* at = FindQuoteOrBackslash(begin, end);
  if (at == end || *at == '"') return {begin, static_cast<size_t>(at - begin)};
  while (at < end && *at != '"') at = FindQuoteOrBackslash(std::min(at + 2, end), end);
  return Unescape({begin, static_cast<size_t>(at - begin)});
}

std::string_view JsonReader::Unescape(std::string_view raw) {
  // An escape is longer than its UTF-8, except a broken "\u": it takes 2 bytes and gives 3.
  char* begin = unescaped_.Allocate(raw.size() + raw.size() / 2 + 1, 1);
  char* out = begin;
  while (!raw.empty()) {
    size_t plain = std::min(raw.find('\\'), raw.size());
    std::memcpy(out, raw.data(), plain);
    out += plain;
    raw.remove_prefix(plain);
    if (raw.size() < 2) break;
    char kind = raw[1];
    raw.remove_prefix(2);
    if (kind == 'u') {
      out = PutUtf8(TakeUnicodeEscape(raw), out);
    } else {
      *out++ = SimpleEscape(kind);
    }
  }
  return {begin, static_cast<size_t>(out - begin)};
}

// ---- JsonValue

std::string_view JsonValue::Token() const {
  if (!is_root_) return value_.raw_json_token();
  std::string_view text = reader_->text_;
  while (!text.empty() && static_cast<uint8_t>(text[0]) <= ' ') text.remove_prefix(1);
  return text;
}

JsonKind JsonValue::kind() const {
  std::string_view token = Token();
  switch (token.empty() ? '\0' : token[0]) {
    case '{':
      return JsonKind::kObject;
    case '[':
      return JsonKind::kArray;
    case '"':
      return JsonKind::kString;
    case 'n':
      return TrimEnd(token) == "null" ? JsonKind::kNull : JsonKind::kOther;
    case 't':
    case 'f':
      return JsonKind::kBool;
    default:
      break;
  }
  bool is_number = !token.empty() && (token[0] == '-' || (token[0] >= '0' && token[0] <= '9'));
  return is_number ? JsonKind::kNumber : JsonKind::kOther;
}

std::optional<int64_t> JsonValue::Int() {
  if (is_root_) return std::nullopt;
  int64_t integer = 0;
  if (!value_.get_int64().get(integer)) return integer;
  std::optional<double> number = Double();
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  bool fits = number && *number > -kLimit && *number < kLimit && *number == std::trunc(*number);
  return fits ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

std::optional<int64_t> JsonValue::IntOrText() {
  std::optional<std::string_view> text = String();
  return text ? ParseNumber<int64_t>(*text) : Int();
}

std::optional<double> JsonValue::Double() {
  double number = 0;
  if (is_root_ || value_.get_double().get(number)) return std::nullopt;
  return number;
}

std::optional<bool> JsonValue::Bool() {
  bool flag = false;
  if (is_root_ || value_.get_bool().get(flag)) return std::nullopt;
  return flag;
}

std::optional<std::string_view> JsonValue::String() {
  simdjson::ondemand::raw_json_string raw;
  if (is_root_ || value_.get_raw_json_string().get(raw)) return std::nullopt;
  return reader_->Unquote(raw.raw());
}

std::optional<std::string_view> JsonValue::Raw() {
  JsonKind what = kind();
  std::string_view raw = Token();
  if (!is_root_ && what == JsonKind::kObject) {
    simdjson::ondemand::object object;
    if (Object().get(object) || object.raw_json().get(raw)) return std::nullopt;
  } else if (!is_root_ && what == JsonKind::kArray) {
    simdjson::ondemand::array array;
    if (Array().get(array) || array.raw_json().get(raw)) return std::nullopt;
  }
  return TrimEnd(raw);
}

uint64_t JsonValue::offset() const {
  return static_cast<uint64_t>(reader_->OffsetOf(Token().data()));
}

Status JsonValue::Error(simdjson::error_code code) const {
  return reader_->Error(code, Token().data());
}

Status JsonValue::CheckDepth() const {
  if (is_root_ || value_.current_depth() <= JsonReader::kMaxDepth) return {};
  return Error(simdjson::DEPTH_ERROR);
}

simdjson::simdjson_result<simdjson::ondemand::object> JsonValue::Object() {
  return is_root_ ? reader_->document_.get_object() : value_.get_object();
}

simdjson::simdjson_result<simdjson::ondemand::array> JsonValue::Array() {
  return is_root_ ? reader_->document_.get_array() : value_.get_array();
}

}  // namespace debrief
