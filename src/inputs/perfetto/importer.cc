// Perfetto protobuf traces.
//
// The file is a run of   0a <length> <packet>   (field 1 of message Trace). A packet is fields
// again. A name that ends in .pftrace is believed when the first byte fits; otherwise the first
// packet must be whole and made of fields with known wire types.
//
// Packets need what came before them on their sequence, so that a trace is one range, read by one
// thread through a window of bounded size.
#include "inputs/importer.h"

#include <fmt/format.h>

#include "inputs/perfetto/diagnostics.h"
#include "inputs/perfetto/packet_stream.h"
#include "inputs/perfetto/trace_reader.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::perfetto {

namespace {

constexpr std::string_view kMakes[] = {"timeline",
                                       "timeline_process",
                                       "timeline_track",
                                       "timeline_slice",
                                       "timeline_counter",
                                       "timeline_flow",
                                       "timeline_args",
                                       "timeline_op",
                                       "timeline_device_work",
                                       "timeline_collective",
                                       "timeline_memory",
                                       "timeline_device",
                                       "timeline_group",
                                       "timeline_fact"};

bool FirstPacketIsWhole(std::string_view head) {
  const Framing framing = ReadFraming(head);
  if (framing.header == 0 || framing.length == 0 || framing.length > head.size() - framing.header)
    return false;
  const auto length = static_cast<size_t>(framing.length);
  const size_t next = framing.header + length;
  return LooksLikePacket(head.substr(framing.header, length), /*is_cut=*/false) &&
         (next == head.size() || head[next] == '\x0a');
}

bool IsNamedSo(std::string_view name) {
  return name.ends_with(".pftrace") || name.ends_with(".perfetto-trace") ||
         name.ends_with(".perfetto");
}

Recognition Sniff(const SniffInput& input) {
  bool starts_right = input.head.size() > 2 && input.head[0] == '\x0a';
  return {.mine = starts_right && (IsNamedSo(input.name) || FirstPacketIsWhole(input.head))};
}

class PerfettoReader final : public Reader {
 public:
  explicit PerfettoReader(const ImportContext& context)
      : who_(context.who),
        window_bytes_(context.chunk_bytes),
        keeps_args_(context.keeps_args),
        joiner_(context.who) {}

  Status Read(const Source& source, ByteRange, Part& part) const override {
    PacketStream stream(source, static_cast<size_t>(window_bytes_));
    Status status = ReadPackets(stream, who_, keeps_args_, part);
    ReportGaps(stream, source.size(), part);
    return status;
  }

  Status Merge(Part&& part, Part& whole) override {
    notes_.reset(static_cast<TraceNotes*>(part.notes.release()));
    joiner_.Merge(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override {
    if (notes_ == nullptr || notes_->events == 0) return {};
    const timeline::FileFacts facts = {.producer = "perfetto",
                                       .base_ns = notes_->base_ns,
                                       .events = notes_->events,
                                       .lost = notes_->lost};
    joiner_.Finish(facts, whole);
    if (notes_->timeline) SetTimeline(whole);
    return {};
  }

 private:
  // What the trace was made from.
  void SetTimeline(Part& whole) const {
    auto& table = whole.tables.Edit<TimelineTable>();
    const size_t row = table.size() - 1;
    const TimelineRow& told = *notes_->timeline;
    if (!notes_->producer.empty()) table.producer[row] = whole.pools.Intern(notes_->producer);
    if (told.backend != StringId::kNone) table.backend[row] = whole.pools.Intern(notes_->backend);
    table.base_ns[row] = told.base_ns;
    table.world_size[row] = told.world_size;
    table.has_shapes[row] = told.has_shapes;
    table.has_stacks[row] = told.has_stacks;
    table.has_memory[row] = told.has_memory;
  }

  void ReportGaps(const PacketStream& stream, uint64_t size, Part& part) const {
    for (const PacketStream::Gap& gap : stream.gaps()) {
      part.diagnostics.Add(kGap, who_.input,
                           {.offset = static_cast<int64_t>(gap.offset),
                            .detail = fmt::format("{} bytes", gap.bytes)});
    }
    if (const uint64_t more = stream.gap_count() - stream.gaps().size(); more > 0)
      part.diagnostics.AddMany(kGap, who_.input, static_cast<int64_t>(more));
    if (stream.ends_cut())
      part.diagnostics.Add(kTruncated, who_.input, {.offset = static_cast<int64_t>(size)});
  }

  Identity who_;
  uint64_t window_bytes_;
  bool keeps_args_;
  timeline::TimelineJoiner joiner_;
  std::unique_ptr<TraceNotes> notes_;
};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "perfetto",
               .sentence = "Perfetto trace: protobuf packets of slices, tracks and counters",
               .example = "trace.pftrace",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<PerfettoReader>};
  return kImporter;
}

}  // namespace debrief::inputs::perfetto
