// The clocks of a trace.
//
// A time is that of some clock: the packet's, the sequence's, or else the time since boot. Clocks
// 64 to 127 belong to one sequence, may count in other units, and may tell only the step from the
// last time. A snapshot gives the times of several clocks at one moment, and so relates them. All
// times are turned into those of one clock, the trace's; Base() then relates that to 1970.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/pools/ids.h"
#include "inputs/perfetto/packet.h"

namespace debrief::inputs::perfetto {

class Clocks {
 public:
  void AddSnapshot(uint32_t sequence, std::span<const ClockReading> readings,
                   std::optional<uint32_t> primary);

  // Nanoseconds of the trace's clock; none when the two cannot be related or the time is beyond
  // +-2e18 (sums with a base and durations then stay inside of 63 bits). The first call decides
  // which clock is the trace's: the one that a snapshot names, or that of boot time where it can be
  // related, or else the one of this time.
  std::optional<int64_t> ToTraceTime(uint32_t sequence, uint32_t clock, uint64_t time);

  // What to add to times of the trace's clock to count from 1970; kNone64 when not told.
  int64_t Base() const;

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // sequence (0: of all) and clock
  struct Unit {
    uint64_t ns = 1;
    bool is_incremental = false;
    int64_t last = 0;  // nanoseconds
  };
  using Times = std::map<Key, int64_t>;  // of all clocks at one moment

  static Key KeyOf(uint32_t sequence, uint32_t clock);
  std::optional<int64_t> Nanoseconds(const Key& clock, uint64_t time);
  bool IsRelated(const Key& clock, const Key& to) const;
  void Remember(const std::shared_ptr<const Times>& times);

  std::map<Key, Unit> units_;                            // of those that have one
  std::map<Key, std::shared_ptr<const Times>> last_of_;  // the last snapshot that has the clock
  Times to_realtime_;  // what to add to each clock, from the first snapshot with both
  std::optional<uint32_t> primary_;
  std::optional<Key> trace_clock_;
};

}  // namespace debrief::inputs::perfetto
