#include "redact/binary.h"

#include <algorithm>
#include <optional>
#include <string>

namespace debrief::redact {

namespace {

constexpr size_t kShortestString = 3;

bool IsPrintable(char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\t' || c == '\n' || static_cast<uint8_t>(c) >= 0x80;
}

// Pieces that end behind a byte of no string where there is one.
Status ForEachBinaryPiece(const Source& source, const Sink& piece) {
  constexpr size_t kBytes = 1 << 20;
  for (uint64_t at = 0; at < source.size();) {
    ASSIGN_OR_RETURN(const ByteView view, source.View(at, kBytes));
    if (view.size() == 0) break;
    std::string_view text = view.text();
    if (at + text.size() < source.size()) {
      size_t end = text.size();
      while (end > 0 && IsPrintable(text[end - 1])) --end;
      text = text.substr(0, end == 0 ? text.size() : end);
    }
    TRY(piece(text));
    at += text.size();
  }
  return {};
}

// The next run of printable bytes at or behind `at`.
std::string_view NextString(std::string_view bytes, size_t& at) {
  while (at < bytes.size()) {
    while (at < bytes.size() && !IsPrintable(bytes[at])) ++at;
    size_t end = at;
    while (end < bytes.size() && IsPrintable(bytes[end])) ++end;
    const std::string_view found = bytes.substr(at, end - at);
    at = end;
    if (found.size() >= kShortestString) return found;
  }
  return {};
}

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes[0]);
    bytes.remove_prefix(1);
    number |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// Whether a packet has the field compressed_packets.
bool IsPacked(std::string_view packet) {
  constexpr uint64_t kCompressedPackets = 50;
  while (!packet.empty()) {
    const auto key = TakeVarint(packet);
    if (!key) return false;
    if (*key >> 3 == kCompressedPackets) return true;
    uint64_t skip = 0;
    switch (*key & 7) {
      case 0:
        if (!TakeVarint(packet)) return false;
        break;
      case 1:
        skip = 8;
        break;
      case 2:
        skip = TakeVarint(packet).value_or(packet.size());
        break;
      case 5:
        skip = 4;
        break;
      default:
        return false;
    }
    packet.remove_prefix(std::min<uint64_t>(skip, packet.size()));
  }
  return false;
}

}  // namespace

Status ForEachString(const Source& source, const Sink& found) {
  return ForEachBinaryPiece(source, [&](std::string_view bytes) -> Status {
    for (size_t at = 0; at < bytes.size();) {
      const std::string_view string = NextString(bytes, at);
      if (!string.empty()) TRY(found(string));
    }
    return {};
  });
}

Status RedactBinary(const Source& source, TextRedactor& texts, const Sink& out) {
  texts.KeepLengths();
  return ForEachBinaryPiece(source, [&](std::string_view bytes) -> Status {
    std::string result;
    result.reserve(bytes.size());
    size_t copied = 0;
    for (size_t at = 0; at < bytes.size();) {
      const std::string_view string = NextString(bytes, at);
      if (string.empty()) break;
      const auto begin = static_cast<size_t>(string.data() - bytes.data());
      result.append(bytes, copied, begin - copied);
      texts.Redact(string, result);
      copied = begin + string.size();
    }
    result.append(bytes, copied, bytes.size() - copied);
    return out(result);
  });
}

bool HasPackedPackets(const Source& source) {
  constexpr size_t kHeader = 16;
  for (uint64_t at = 0; at < source.size();) {
    auto head = source.View(at, kHeader);
    if (!head.ok()) return true;  // not known
    std::string_view bytes = head.value().text();
    if (bytes.empty() || bytes[0] != '\x0a') return false;
    bytes.remove_prefix(1);
    const auto length = TakeVarint(bytes);
    if (!length) return false;
    const uint64_t begin = at + head.value().size() - bytes.size();
    constexpr uint64_t kLongestPacket = uint64_t{64} << 20;
    auto packet = source.View(begin, std::min(*length, kLongestPacket));
    if (!packet.ok() || IsPacked(packet.value().text())) return true;
    at = begin + *length;
  }
  return false;
}

}  // namespace debrief::redact
