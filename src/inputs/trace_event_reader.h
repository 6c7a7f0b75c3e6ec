// Reads documents of the Trace Event Format into the timeline tables, for every importer of one.
//
//   {"schemaVersion": 1, "deviceProperties": [...], "traceEvents": [{"ph": "X", ...}, ...],
//    "baseTimeNanoseconds": 1790857026000000000}          or only   [{"ph": "X", ...}, ...
//
// Split finds events to cut at (base/json/event_ranges.h), Read parses a batch of them into
// timeline tables (model/trace_events/event.h), Finish sorts and nests the slices
// (model/timeline/writer.h). A batch with broken JSON is read event by event, and only the broken
// one is lost. Events with cycle stamps get their times from these (model/accel/flex_slices.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/json/event_ranges.h"
#include "inputs/importer.h"
#include "model/timeline/writer.h"
#include "model/trace_events/event.h"

namespace debrief {

class TraceEventReader final : public Reader {
 public:
  explicit TraceEventReader(const ImportContext& context)
      : who_(context.who),
        chunk_bytes_(context.chunk_bytes),
        keeps_args_(context.keeps_args),
        joiner_(context.who) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override;
  Status Read(const Source& source, ByteRange range, Part& part) const override;
  Status Merge(Part&& part, Part& whole) override;
  Status Finish(Part& whole) override;

 private:
  void ReportTrouble(const timeline::EdgeCounts& edges, Part& whole) const;

  Identity who_;
  uint64_t chunk_bytes_;
  bool keeps_args_;
  EventRanges found_;
  timeline::TimelineJoiner joiner_;
  trace_events::RangeNotes notes_;
};

}  // namespace debrief
