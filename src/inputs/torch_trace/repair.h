// Logs into which several ranks wrote at once: lines of their payloads are mixed, checksums do not
// hold. Stretches of such entries are read again and untangled.
#pragma once

#include <cstdint>

#include "base/bytes/source.h"
#include "base/status.h"
#include "model/model.h"

namespace debrief::inputs::torch_trace {

struct Repaired {
  int64_t restored = 0;     // payloads whose checksum holds now
  int64_t lost = 0;         // payloads for which no order of lines fits
  int64_t lines_owned = 0;  // lines that had no entry and have one now
  bool gave_up = false;     // the search reached its limit
};

// `whole` holds the joined log. Rows whose payload was put together again get its pieces, and
// their kinds read it. Memory is bounded: a stretch has at most some megabytes.
Result<Repaired> RepairTangles(const Source& source, Part& whole);

}  // namespace debrief::inputs::torch_trace
