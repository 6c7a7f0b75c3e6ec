// Packets in the order of the file -> rows of the timeline tables.
//
//   begin and end events    slices; they pair up like brackets on their track, in order of time
//   instants                slices without duration; "[memory]" a change of allocated memory
//   counters                rows of timeline_counter
//   flow ids                arrows; in traces of ours they repeat what is told better
//
// Slices hold the position of their track in the list of tracks until the end, when it is known
// what the tracks are. Memory: the rows, 16 bytes for each begin and end, and the names of
// the sequences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "inputs/perfetto/packet_stream.h"
#include "model/model.h"
#include "tables/timeline.h"

namespace debrief::inputs::perfetto {

// For the one that finishes the timeline.
struct TraceNotes final : PartNotes {
  int64_t events = 0, lost = 0;
  int64_t base_ns = kNone64;
  // As a trace of ours tells it; texts beside, since the row's are numbers in the part's pools.
  std::optional<TimelineRow> timeline;
  std::string producer, backend;
};

// All packets of the stream; `keeps_args`: arguments that have no column, too. A Status when the
// source cannot be read; rows of what was read before are in the part.
Status ReadPackets(PacketStream& stream, const Identity& who, bool keeps_args, Part& part);

}  // namespace debrief::inputs::perfetto
