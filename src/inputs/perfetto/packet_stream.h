// The packets of a trace, one after the other, through a window of bounded size.
//
//   0a <length> <packet> 0a <length> <packet> ...
//
// Where no packet begins, or one claims to be longer than the file, bytes are lost: the stream goes
// on at the next place where a packet begins whose first fields make sense and behind which another
// one begins. That search looks at every byte once and at a few fields for each candidate.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/status.h"

namespace debrief::inputs::perfetto {

struct Framing {
  size_t header = 0;    // bytes before the packet; 0 when none begins here
  uint64_t length = 0;  // of the packet
};

// What the bytes at the begin of `text` say.
Framing ReadFraming(std::string_view text);

// Whether `packet` begins with fields of known wire types, each as long as it says. `is_cut`: the
// packet goes on behind it. Looks at a few fields only.
bool LooksLikePacket(std::string_view packet, bool is_cut);

class PacketStream {
 public:
  // The source must outlive the stream.
  PacketStream(const Source& source, size_t window_bytes);

  // False at the end. The packet is valid until the next call.
  Result<bool> Next(std::string_view& packet);

  uint64_t offset() const { return packet_at_; }  // of the packet that Next gave

  // Bytes that belong to no packet.
  struct Gap {
    uint64_t offset = 0;
    uint64_t bytes = 0;
  };
  const std::vector<Gap>& gaps() const { return gaps_; }  // the first few
  uint64_t gap_count() const { return gap_count_; }
  bool ends_cut() const { return ends_cut_; }  // in the middle of a packet

 private:
  // Bytes at `at`: `wanted` of them, fewer at the end of the source.
  Result<std::string_view> Look(uint64_t at, size_t wanted, size_t ahead);
  Result<bool> IsPacket(uint64_t at);
  Result<bool> FindPacket(uint64_t from);
  void AddGap(uint64_t from, uint64_t to);

  const Source& source_;
  size_t window_bytes_;
  ByteView view_;
  uint64_t view_at_ = 0;
  uint64_t at_ = 0;
  uint64_t packet_at_ = 0;
  std::vector<Gap> gaps_;
  uint64_t gap_count_ = 0;
  bool ends_cut_ = false;
};

}  // namespace debrief::inputs::perfetto
