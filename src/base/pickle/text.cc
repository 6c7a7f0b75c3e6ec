#include <algorithm>
#include <charconv>

#include "base/pickle/ops.h"
#include "base/text/utf8.h"

namespace debrief::pickle {

namespace {

// The escape behind the backslash at line[at]; `at` moves to its last character.
bool DecodeEscape(std::string_view line, size_t& at, std::string& text) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kMeanings = "\\'\"\a\b\f\n\r\t\v";
  if (++at >= line.size()) return false;
  if (size_t letter = kLetters.find(line[at]); letter != std::string_view::npos) {
    text += kMeanings[letter];
  } else if (line[at] == 'x') {
    auto code = ParseHex(line.substr(at + 1), 2);
    if (!code) return false;
    AppendUtf8(*code, text);
    at += 2;
  } else if (line[at] >= '0' && line[at] <= '7') {
    uint32_t code = 0;
    size_t end = std::min(at + 3, line.size());
    for (; at < end && line[at] >= '0' && line[at] <= '7'; ++at)
      code = code * 8 + static_cast<uint32_t>(line[at] - '0');
    --at;
    AppendUtf8(code & 0xFF, text);
  } else {
    text += '\\';
    text += line[at];
  }
  return true;
}

}  // namespace

bool ParseIntegerLine(std::string_view line, PickleValue& value) {
  if (line == "00" || line == "01") {
    value = {PickleKind::kBool, 0, {line == "01"}};
    return true;
  }
  if (line.ends_with('L')) line.remove_suffix(1);
  value = PickleValue::Int(0);
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value.number);
  if (end != line.data() + line.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = {PickleKind::kBigInt, 0, {}};
  return true;
}

bool ParseFloatLine(std::string_view line, PickleValue& value) {
  value = {PickleKind::kDouble, 0, {}};
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value.real);
  return error == std::errc() && end == line.data() + line.size();
}

bool DecodeUnicodeLine(std::string_view line, std::string& text) {
  for (size_t i = 0; i < line.size(); ++i) {
    bool is_escape = line[i] == '\\' && i + 1 < line.size() && (line[i + 1] | 0x20) == 'u';
    if (!is_escape) {
      AppendUtf8(static_cast<uint8_t>(line[i]), text);
      continue;
    }
    size_t digits = line[i + 1] == 'u' ? 4 : 8;
    auto code = ParseHex(line.substr(i + 2), digits);
    if (!code) return false;
    AppendUtf8(*code, text);
    i += 1 + digits;
  }
  return true;
}

bool DecodeStringLine(std::string_view line, std::string& text) {
  while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
  bool quoted = line.size() >= 2 && line.front() == line.back() &&
                (line.front() == '\'' || line.front() == '"');
  if (!quoted) return false;
  line = line.substr(1, line.size() - 2);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      AppendUtf8(static_cast<uint8_t>(line[i]), text);
    } else if (!DecodeEscape(line, i, text)) {
      return false;
    }
  }
  return true;
}

}  // namespace debrief::pickle
