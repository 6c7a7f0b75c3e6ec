// Packets in the order of the file -> rows of the timeline tables.
//
//   begin and end events    slices; they pair up like brackets on their track, in order of time
//   instants                slices without duration; "[memory]" a change of allocated memory
//   counters                rows of timeline_counter
//   flow ids                arrows; in traces of ours they repeat what is told better
//
// Slices hold the position of their track in the list of tracks until the end, when it is known
// what the tracks are. Memory: the rows, 16 bytes for each begin and end, and the names of the
// sequences.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/perfetto/about.h"
#include "inputs/perfetto/clocks.h"
#include "inputs/perfetto/packet.h"
#include "inputs/perfetto/sequence.h"
#include "inputs/perfetto/tracks.h"
#include "model/timeline/writer.h"
#include "tables/timeline_counter.h"

namespace debrief::inputs::perfetto {

// For the one that finishes the timeline.
struct TraceNotes final : PartNotes {
  int64_t events = 0, lost = 0;
  int64_t base_ns = kNone64;
  // As a trace of ours tells it; texts beside, since the row's are numbers in the part's pools.
  std::optional<TimelineRow> timeline;
  std::string producer, backend;
};

class TraceReader {
 public:
  TraceReader(const Identity& who, Part& part);

  // One packet, which begins at `offset` of the file.
  void Take(std::string_view bytes, uint64_t offset);

  // Once, after all packets.
  void Finish();

 private:
  // Where a slice begins or ends.
  struct Edge {
    int64_t time = 0;
    uint32_t track = 0;
    uint32_t slice = 0;  // kEnd: an end
  };
  struct Arrow {
    int64_t time = 0;
    uint64_t id = 0;
    uint32_t track = 0;
    bool ends = false;
  };
  struct Category {
    StringId kind = StringId::kNone;
    bool is_of_device = false;
  };
  struct Details;

  void TakeParsed(const Packet& packet, uint64_t offset, bool is_unpacked);
  void TakeCompressed(std::string_view packed, uint64_t offset);
  void TakeEvent(const Packet& packet, Sequence& sequence, uint64_t offset);
  std::optional<int64_t> TimeOf(const Packet& packet, Sequence& sequence);
  void AddEvent(const Event& event, int64_t time, const Sequence& sequence, uint64_t offset);
  void AddSlice(const Event& event, int32_t type, int64_t time, const Sequence& sequence,
                uint64_t offset);
  void AddDetails(const Details& details, bool is_of_device, int32_t slice);
  void AddCounters(const Event& event, int64_t time, const Sequence& sequence);
  void AddCounter(uint64_t uuid, int64_t time, double value);
  StringId CategoryOf(const Event& event, const Sequence& sequence);
  StringId NameOf(const Event& event, const Sequence& sequence, uint64_t offset);
  const Category& KindOf(StringId category);
  uint32_t UseTrack(uint64_t uuid);

  void PairEdges();
  void PairTrack(std::span<Edge> edges, int64_t last);
  void AddArrows();
  void PlaceRows();
  void Report(const DiagnosticKind& kind, uint64_t offset, std::string detail = {});
  void Lose(const DiagnosticKind& kind, uint64_t offset);

  Identity who_;
  Part& part_;
  timeline::TimelineWriter writer_;
  TraceNotes* notes_;
  Packet packet_, unpacked_;
  Clocks clocks_;
  Tracks tracks_;
  About about_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  std::unordered_map<StringId, Category> categories_;
  std::vector<Edge> edges_;
  std::vector<Arrow> arrows_;
  StringId about_category_, memory_name_, instant_;
};

}  // namespace debrief::inputs::perfetto
