#include "base/pickle/writer.h"

#include <bit>

#include "base/pickle/ops.h"

namespace debrief {

PickleWriter::PickleWriter(std::string* out) : out_(out) {
  *out_ += static_cast<char>(pickle::kProto);
  *out_ += '\2';
}

// Little-endian.
void PickleWriter::PutNumber(uint64_t number, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) *out_ += static_cast<char>(number >> (8 * i) & 255);
}

PickleWriter& PickleWriter::Key(std::string_view key) {
  auto known = keys_.find(key);
  const bool is_new = known == keys_.end();
  if (is_new) {
    known = keys_.emplace(key, static_cast<uint32_t>(keys_.size())).first;
    Text(key);
  }
  const bool is_short = known->second <= 255;
  *out_ += static_cast<char>(is_new ? (is_short ? pickle::kBinPut : pickle::kLongBinPut)
                                    : (is_short ? pickle::kBinGet : pickle::kLongBinGet));
  PutNumber(known->second, is_short ? 1 : 4);
  return *this;
}

PickleWriter& PickleWriter::Int(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  if (number >= 0 && number <= 255) {
    *out_ += static_cast<char>(pickle::kBinInt1);
    PutNumber(bits, 1);
  } else if (number == static_cast<int32_t>(number)) {
    *out_ += static_cast<char>(pickle::kBinInt);
    PutNumber(bits, 4);
  } else {
    *out_ += static_cast<char>(pickle::kLong1);
    *out_ += '\x08';
    PutNumber(bits, 8);
  }
  return *this;
}

PickleWriter& PickleWriter::Double(double number) {
  *out_ += static_cast<char>(pickle::kBinFloat);
  const auto bits = std::bit_cast<uint64_t>(number);
  for (int shift = 56; shift >= 0; shift -= 8) *out_ += static_cast<char>(bits >> shift & 255);
  return *this;
}

PickleWriter& PickleWriter::Text(std::string_view text) {
  constexpr size_t kMostShort = 0xFFFFFFFF;
  text = text.substr(0, kMostShort);
  *out_ += static_cast<char>(pickle::kBinUnicode);
  PutNumber(text.size(), 4);
  *out_ += text;
  return *this;
}

}  // namespace debrief
