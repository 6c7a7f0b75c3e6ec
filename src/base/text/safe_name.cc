#include "base/text/safe_name.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/bytes/md5.h"
#include "base/text/utf8.h"

namespace debrief {

namespace {

constexpr size_t kLongestName = 120;
constexpr size_t kHashDigits = 16;
constexpr char kHex[] = "0123456789abcdef";

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Windows reserves these with any extension and in any case.
bool IsDeviceName(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kDevices = {"CON", "PRN",    "AUX",
                                                               "NUL", "CONIN$", "CONOUT$"};
  std::string stem(name.substr(0, name.find('.')));
  for (char& c : stem) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (std::find(kDevices.begin(), kDevices.end(), stem) != kDevices.end()) return true;
  bool is_port = stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT"));
  return is_port && stem[3] >= '0' && stem[3] <= '9';
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
