// What torch.fx writes beside a value: "f32[4, s27, 128][128*s27, 128, 1]cuda:0", "Sym(s27)".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace debrief {

struct FxValue {
  std::string_view text;     // all of it; empty when nothing is told
  std::string_view dtype;    // f32; Sym; any other text as it is
  std::string_view sizes;    // 4, s27, 128; the expression of a Sym
  std::string_view strides;  // 128*s27, 128, 1
  std::string_view device;   // cuda:0
  bool is_tensor = false;
};

FxValue ReadFxValue(std::string_view text);

// Bytes of a tensor; 0 for a Sym; nullopt when a size is no number, the type is not known, or more
// bytes than an int64_t counts.
std::optional<int64_t> FxBytes(const FxValue& value);

// "cuda:0" -> "cuda".
std::string_view WithoutDeviceIndex(std::string_view device);

// Calls `found(symbol)` for each s27, u0, zuf3 in the sizes and strides.
template <typename Found>
void ForEachFxSymbol(std::string_view text, Found found) {
  auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      ++at;
      continue;
    }
    size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    std::string_view word = text.substr(begin, at - begin);
    if (is_digit(word[0])) continue;
    size_t letters = word.starts_with("zuf") || word.starts_with("zf") ? word.find('f') + 1
                     : word[0] == 's' || word[0] == 'u'                ? 1
                                                                       : 0;
    if (letters == 0 || letters == word.size()) continue;
    bool symbol = true;
    for (char c : word.substr(letters)) symbol = symbol && is_digit(c);
    if (symbol) found(word);
  }
}

}  // namespace debrief
