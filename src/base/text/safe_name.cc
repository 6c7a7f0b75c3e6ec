#include "base/text/safe_name.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes/md5.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr size_t kLongestName = 120;
constexpr size_t kHashDigits = 16;
constexpr char kHex[] = "0123456789abcdef";

// Windows reserves these with any extension and in any case.
bool IsDeviceName(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kDevices = {"CON", "PRN",    "AUX",
                                                               "NUL", "CONIN$", "CONOUT$"};
  std::string stem(name.substr(0, name.find('.')));
  std::ranges::transform(stem, stem.begin(), UpperCase);
  if (IsOneOf(stem, kDevices)) return true;
  bool is_port = stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT"));
  return is_port && IsDigit(stem[3]);
}

// C1 controls are C2 80 to C2 9F; the marks that reorder text are E2 80 AA to AE and E2 81 A6 to
// A9.
bool IsInvisibleControl(std::string_view character) {
  auto last = static_cast<uint8_t>(character.back());
  if (character.size() == 1) return last < 0x20 || last == 0x7F;
  if (character.size() == 2) return character[0] == '\xC2' && last < 0xA0;
  if (character.starts_with("\xE2\x80")) return last >= 0xAA && last <= 0xAE;
  return character.starts_with("\xE2\x81") && last >= 0xA6 && last <= 0xA9;
}

// How many bytes at the front are letters of ASCII, tabs and line ends.
size_t PlainBytes(std::string_view text) {
  size_t at = 0;
  while (at < text.size() &&
         ((text[at] >= ' ' && text[at] != 0x7F) || text[at] == '\n' || text[at] == '\t'))
    ++at;
  return at;
}

// The length of "ESC [ 1;31 m" at the front; 0 when there is none.
size_t ColourBytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// One of those that IsInvisibleControl() knows.
void AppendEscape(std::string_view character, std::string& out) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(character[i]); };
  uint32_t code = byte(0);
  if (character.size() == 2) code = (code & 0x1FU) << 6 | (byte(1) & 0x3FU);
  if (character.size() == 3)
    code = (code & 0xFU) << 12 | (byte(1) & 0x3FU) << 6 | (byte(2) & 0x3FU);
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[code >> shift & 15U];
}

}  // namespace

std::string SafeName(std::string_view name) {
  bool too_long = name.size() > kLongestName;
  // The hash must not change between versions: people keep links to files. So it is not HashBytes.
  std::string safe(name.substr(0, too_long ? kLongestName - kHashDigits - 1 : name.size()));
  for (char& c : safe) {
    if (!IsAlphanumeric(c) && c != '.' && c != '_' && c != '-') c = '_';
  }
  if (too_long) safe += '_' + Md5Hex(name).substr(0, kHashDigits);
  if (safe.empty()) return "_";
  if (safe.front() == '.' || safe.front() == '-') safe.front() = '_';
  if (safe.back() == '.') safe.back() = '_';
  if (IsDeviceName(safe)) safe.insert(0, 1, '_');
  return safe;
}

std::string PrintableLines(std::string_view text, bool keep_colours) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t plain = PlainBytes(text);
    out.append(text, 0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t bytes = keep_colours ? ColourBytes(text) : 0;
    if (bytes > 0) {
      out.append(text, 0, bytes);
    } else {
      const Utf8Step step = StepUtf8(text);
      bytes = step.bytes;
      const std::string_view character = text.substr(0, bytes);
      if (!step.valid) {
        out += kReplacementCharacter;
      } else if (IsInvisibleControl(character)) {
        AppendEscape(character, out);
      } else {
        out += character;
      }
    }
    text.remove_prefix(bytes);
  }
  return out;
}

std::string Printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    Utf8Step step = StepUtf8(text);
    std::string_view character = text.substr(0, step.bytes);
    text.remove_prefix(step.bytes);
    if (!step.valid) {
      out += kReplacementCharacter;
    } else if (!IsInvisibleControl(character)) {
      out += character;
    } else {
      for (char c : character) {
        auto byte = static_cast<uint8_t>(c);
        out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      }
    }
  }
  return out;
}

}  // namespace debrief
