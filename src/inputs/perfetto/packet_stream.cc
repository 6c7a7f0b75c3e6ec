#include "inputs/perfetto/packet_stream.h"

#include <algorithm>

namespace debrief::inputs::perfetto {

namespace {

constexpr size_t kMostHeader = 11;  // the tag and a varint
constexpr int kFieldsToCheck = 16;
constexpr size_t kBytesToCheck = 4096;
constexpr size_t kSearchWindow = 64 << 10;
constexpr size_t kGapsKept = 5;
constexpr char kPacketTag = '\x0a';

// Reads a varint and moves `at` behind it; false when it is cut or too long.
bool ReadVarint(std::string_view bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    auto byte = static_cast<uint8_t>(bytes[at++]);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Moves `at` behind a field; false when there is none.
bool SkipField(std::string_view bytes, bool is_cut, size_t& at) {
  uint64_t tag = 0, length = 0;
  if (!ReadVarint(bytes, at, tag) || tag >> 3 == 0) return false;
  switch (tag & 7) {
    case 0:
      return ReadVarint(bytes, at, length);
    case 1:
      length = 8;
      break;
    case 2:
      if (!ReadVarint(bytes, at, length)) return false;
      break;
    case 5:
      length = 4;
      break;
    default:
      return false;
  }
  if (length > bytes.size() - at && !is_cut) return false;
  at += std::min<uint64_t>(length, bytes.size() - at);
  return true;
}

}  // namespace

Framing ReadFraming(std::string_view text) {
  if (text.empty() || text.front() != kPacketTag) return {};
  size_t at = 1;
  uint64_t length = 0;
  if (!ReadVarint(text, at, length)) return {};
  return {at, length};
}

bool LooksLikePacket(std::string_view packet, bool is_cut) {
  size_t at = 0;
  for (int fields = 0; at < packet.size() && fields < kFieldsToCheck; ++fields) {
    // What is cut may be cut inside of a field.
    if (is_cut && packet.size() - at < kMostHeader) return true;
    if (!SkipField(packet, is_cut, at)) return false;
  }
  return true;
}

PacketStream::PacketStream(const Source& source, size_t window_bytes)
    : source_(source), window_bytes_(window_bytes) {}

Result<std::string_view> PacketStream::Look(uint64_t at, size_t wanted, size_t ahead) {
  wanted = static_cast<size_t>(std::min<uint64_t>(wanted, source_.size() - at));
  const bool is_inside = at >= view_at_ && at + wanted <= view_at_ + view_.size();
  if (!is_inside) {
    ASSIGN_OR_RETURN(view_, source_.View(at, std::max(wanted, ahead)));
    view_at_ = at;
  }
  return view_.text().substr(static_cast<size_t>(at - view_at_), wanted);
}

// Whether a packet begins at `at` and the next one, or the end, behind it.
Result<bool> PacketStream::IsPacket(uint64_t at) {
  ASSIGN_OR_RETURN(std::string_view head, Look(at, kMostHeader, kSearchWindow));
  const Framing framing = ReadFraming(head);
  const uint64_t left = source_.size() - at;
  if (framing.header == 0 || framing.length == 0 || framing.length > left - framing.header)
    return false;
  const size_t checked = static_cast<size_t>(std::min<uint64_t>(framing.length, kBytesToCheck));
  ASSIGN_OR_RETURN(std::string_view start, Look(at, framing.header + checked, kSearchWindow));
  if (!LooksLikePacket(start.substr(framing.header), checked < framing.length)) return false;
  const uint64_t next = at + framing.header + framing.length;
  if (next == source_.size()) return true;
  ASSIGN_OR_RETURN(std::string_view behind, Look(next, kMostHeader, kSearchWindow));
  return ReadFraming(behind).header > 0;
}

// Moves to the next place at or behind `from` where a packet begins.
Result<bool> PacketStream::FindPacket(uint64_t from) {
  uint64_t at = from;
  while (at < source_.size()) {
    ASSIGN_OR_RETURN(std::string_view text, Look(at, kSearchWindow, kSearchWindow));
    const size_t found = text.find(kPacketTag);
    if (found == std::string_view::npos) {
      at += text.size();
      continue;
    }
    at += found;
    ASSIGN_OR_RETURN(const bool is_packet, IsPacket(at));
    if (is_packet) {
      at_ = at;
      return true;
    }
    ++at;
  }
  at_ = source_.size();
  return false;
}

void PacketStream::AddGap(uint64_t from, uint64_t to) {
  ++gap_count_;
  if (gaps_.size() < kGapsKept) gaps_.push_back({from, to - from});
}

Result<bool> PacketStream::Next(std::string_view& packet) {
  while (at_ < source_.size()) {
    ASSIGN_OR_RETURN(std::string_view head, Look(at_, kMostHeader, window_bytes_));
    const Framing framing = ReadFraming(head);
    const uint64_t left = source_.size() - at_;
    if (framing.header > 0 && framing.length <= left - framing.header) {
      const auto whole = static_cast<size_t>(framing.header + framing.length);
      ASSIGN_OR_RETURN(std::string_view bytes, Look(at_, whole, window_bytes_));
      packet = bytes.substr(framing.header);
      packet_at_ = at_;
      at_ += whole;
      return true;
    }
    const uint64_t lost_at = at_;
    const bool might_be_cut = framing.header > 0 || left < kMostHeader;
    ASSIGN_OR_RETURN(const bool found, FindPacket(at_ + 1));
    if (!found && might_be_cut) {
      ends_cut_ = true;
    } else {
      AddGap(lost_at, at_);
    }
  }
  return false;
}

}  // namespace debrief::inputs::perfetto
