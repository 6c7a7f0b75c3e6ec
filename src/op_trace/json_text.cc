#include "op_trace/json_text.h"

#include <charconv>

namespace debrief::op_trace {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the sequence that begins at `at`; 0 when it is none.
size_t SequenceAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(at), second = byte(at + 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(at + 1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return follows(at + 1) && follows(at + 2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool beyond = first == 0xF4 && second >= 0x90;
    return follows(at + 1) && follows(at + 2) && follows(at + 3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

void AppendControl(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef", kFrom = "\b\f\n\r\t", kTo = "bfnrt";
  if (const size_t found = kFrom.find(c); found != std::string_view::npos) {
    out += '\\';
    out += kTo[found];
    return;
  }
  out += "\\u00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[static_cast<unsigned char>(c) & 15];
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 63));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 63));
    add(0x80 | (code >> 6 & 63));
  }
  add(0x80 | (code & 63));
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = SequenceAt(text, at);
    const char c = text[at];
    if (bytes == 0) {
      out += kReplacement;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < ' ') {
      AppendControl(out, c);
    } else {
      out += text.substr(at, bytes);
    }
    at += bytes == 0 ? 1 : bytes;
  }
  out += '"';
}

void AppendMicros(std::string& out, int64_t ns) {
  const uint64_t size = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  if (ns < 0) out += '-';
  out += std::to_string(size / 1000);
  std::string digits = std::to_string(1000 + size % 1000).substr(1);
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  out += '.' + digits;
}

void AppendDuration(std::string& out, const std::optional<int64_t>& duration_ns) {
  if (duration_ns) {
    AppendMicros(out, *duration_ns);
  } else {
    out += "null";
  }
}

void AppendDouble(std::string& out, double number) {
  char buffer[400];  // the longest double without an exponent has 309 digits before the point
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  out += text;
  if (text.find('.') == std::string_view::npos) out += ".0";
}

void JsonPull::SkipBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

bool JsonPull::Fail() {
  failed_ = true;
  return false;
}

char JsonPull::Peek() {
  SkipBlanks();
  return failed_ || at_ >= text_.size() ? '\0' : text_[at_];
}

bool JsonPull::Take(char c) {
  if (Peek() != c) return false;
  ++at_;
  return true;
}

bool JsonPull::Begin(char bracket) {
  if (!Take(bracket)) return Fail();
  fresh_ = true;
  return true;
}

// Behind an opening bracket or a value: whether another one follows.
bool JsonPull::NextIn(char closing) {
  if (failed_) return false;
  const bool is_first = fresh_;
  fresh_ = false;
  if (Take(closing)) return false;
  if (!is_first && !Take(',')) return Fail();
  return true;
}

bool JsonPull::NextKey(std::string& key) {
  return NextIn('}') && String(key) && (Take(':') || Fail());
}

bool JsonPull::NextElement() { return NextIn(']'); }

bool JsonPull::String(std::string& text) {
  if (!Take('"')) return Fail();
  text.clear();
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') return true;
    if (c == '\\' ? !Escape(text) : static_cast<unsigned char>(c) < ' ') return Fail();
    if (c != '\\') text += c;
  }
  return Fail();
}

std::optional<uint32_t> JsonPull::Hex4() {
  uint32_t code = 0;
  if (text_.size() - at_ < 4) return std::nullopt;
  const char* from = text_.data() + at_;
  const auto [end, error] = std::from_chars(from, from + 4, code, 16);
  if (error != std::errc() || end != from + 4) return std::nullopt;
  at_ += 4;
  return code;
}

// A surrogate that has no other half becomes U+FFFD.
bool JsonPull::Escape(std::string& text) {
  if (at_ >= text_.size()) return false;
  constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
  const char c = text_[at_++];
  if (const size_t found = kFrom.find(c); found != std::string_view::npos) {
    text += kTo[found];
    return true;
  }
  auto code = c == 'u' ? Hex4() : std::nullopt;
  if (!code) return false;
  const bool is_high = *code >= 0xD800 && *code < 0xDC00;
  if (is_high && text_.substr(at_).starts_with("\\u")) {
    at_ += 2;
    const auto low = Hex4();
    if (!low) return false;
    const bool pairs = *low >= 0xDC00 && *low < 0xE000;
    code = pairs ? 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00) : 0xFFFD;
  } else if (*code >= 0xD800 && *code < 0xE000) {
    code = 0xFFFD;
  }
  AppendUtf8(text, *code);
  return true;
}

bool JsonPull::Word(std::string_view word) {
  SkipBlanks();
  if (failed_ || !text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonPull::Null() { return Word("null"); }

bool JsonPull::Bool(bool& value) {
  value = Word("true");
  return value || Word("false") || Fail();
}

template <typename T>
std::optional<T> JsonPull::Number() {
  SkipBlanks();
  const size_t end = text_.find_first_not_of("+-.0123456789eE", at_);
  const std::string_view token = text_.substr(at_, end - at_);
  T number = 0;
  const auto [behind, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (failed_ || error != std::errc() || behind != token.data() + token.size()) {
    Fail();
    return std::nullopt;
  }
  at_ += token.size();
  return number;
}

std::optional<double> JsonPull::Double() { return Number<double>(); }
std::optional<uint64_t> JsonPull::Count() { return Number<uint64_t>(); }

// Without recursion: a document may nest as deep as it is long.
bool JsonPull::Skip() {
  std::string brackets, ignored;
  do {
    const char c = Peek();
    if (c == '{' || c == '[') {
      ++at_;
      brackets += c;
    } else if (c == '"') {
      if (!String(ignored)) return false;
    } else if (c == 't' || c == 'f') {
      bool value = false;
      if (!Bool(value)) return false;
    } else if ((c == '}' || c == ']') && !brackets.empty()) {
      if ((brackets.back() == '{') != (c == '}')) return Fail();
      ++at_;
      brackets.pop_back();
    } else if (c == 'n') {
      if (!Null()) return Fail();
    } else if ((c == ',' || c == ':') && !brackets.empty()) {
      ++at_;
    } else if (!Double()) {
      return false;
    }
  } while (!brackets.empty());
  return true;
}

bool JsonPull::AtEnd() {
  SkipBlanks();
  return !failed_ && at_ == text_.size();
}

}  // namespace debrief::op_trace
