// Puts the payload lines of several ranks that wrote into one TORCH_TRACE stream back to their
// entries. The order inside a lane (a rank, or a thread of one) is kept by the stream, the owner of
// a payload line is not; but each header carries the MD5 of its payload, so an assignment can be
// proved.
//
// A beam search reads the items in order and keeps the most plausible assignments of the lines so
// far. Plausible is what JSON allows, what was seen in payloads already proved (ranks log nearly
// the same things), what another lane just got at the same place, and the rhythm of the stream. A
// checksum that holds is beyond doubt: from then on only assignments that agree with it live. What
// fails is given up and the search goes on; a later pass, with the proved payloads known and a
// wider beam, tries it again.
//
// Cost: on real logs a few microseconds a line. Where many lanes are open at once and nothing fits
// (wrong checksums, a log that was cut), every guess is as good as any other: the work is limited
// by a budget that grows with the lines and with what was proved. What is left when it is used up
// is looked at only in the order of the stream.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace debrief::inputs::torch_trace {

struct TangledItem {
  int lane = -1;             // header: the lane it belongs to; -1: a payload line, owner unknown
  bool has_payload = false;  // header
  std::array<uint8_t, 16> md5 = {};  // header with payload
  std::string_view text;             // payload line without its tab and line end
};

struct UntangleLimits {
  // Widths of the beam, one pass each; a pass runs only while payloads are missing.
  std::vector<int32_t> beams = {24, 192, 1024};
  // Steps (a line tried on a lane of an assignment) a pass may spend per item; beyond them its beam
  // falls to the first width.
  int64_t steps_per_item = 400;
  // Guessed prefixes kept of one payload; beyond them the pass gives the payload up.
  int32_t prefixes = 1 << 16;
  // Work over all passes, in comparisons (a few nanoseconds each): at least, per item, and per line
  // of a payload that the search proved.
  int64_t least_work = 700'000'000;
  int64_t work_per_item = 5'000;
  int64_t work_per_proved_line = 100'000;
};

struct Untangled {
  // Per item: for a payload line the index of the header it belongs to, -1 unknown. -1 for headers.
  std::vector<int32_t> owner;
  int32_t restored = 0;         // payloads whose checksum holds
  int32_t lost = 0;             // payloads for which no assignment was found that fits
  bool gave_up = false;         // the budget was used up
  int64_t least_work_left = 0;  // of UntangleLimits::least_work, for other stretches of the log
};

// A payload is open from its header to the next header of its lane. Lines of lost payloads have no
// owner. The same items and limits give the same result.
Untangled Untangle(std::span<const TangledItem> items, const UntangleLimits& limits = {});

}  // namespace debrief::inputs::torch_trace
