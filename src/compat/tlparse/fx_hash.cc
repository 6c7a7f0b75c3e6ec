#include "compat/tlparse/fx_hash.h"

#include <bit>
#include <cstring>

namespace debrief {

namespace {

template <typename Word>
Word TakeWord(std::string_view& bytes) {
  static_assert(std::endian::native == std::endian::little);
  Word word;
  std::memcpy(&word, bytes.data(), sizeof word);
  bytes.remove_prefix(sizeof word);
  return word;
}

}  // namespace

void FxHash::AddWord(uint64_t word) {
  hash_ = (std::rotl(hash_, 5) ^ word) * uint64_t{0x517cc1b727220a95};
}

void FxHash::AddText(std::string_view text) {
  while (text.size() >= 8) AddWord(TakeWord<uint64_t>(text));
  if (text.size() >= 4) AddWord(TakeWord<uint32_t>(text));
  while (!text.empty()) AddWord(TakeWord<uint8_t>(text));
  AddWord(0xff);
}

}  // namespace debrief
