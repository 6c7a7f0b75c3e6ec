#include "inputs/perfetto/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/bytes/gzip.h"
#include "inputs/perfetto/diagnostics.h"
#include "inputs/perfetto/packet_stream.h"
#include "model/timeline/kinds.h"
#include "model/timeline/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace {

namespace fields = debrief::perfetto;

constexpr uint32_t kEnd = std::numeric_limits<uint32_t>::max();
constexpr size_t kMostUnpacked = size_t{256} << 20;  // one block of compressed packets
constexpr int64_t kMostDuration = 2'000'000'000'000'000'000;
constexpr std::string_view kMemoryName = "[memory]";
constexpr std::string_view kFlowName = "flow";

// The type of an event that tells its phase in the old form; 0 for phases that are no slices.
int32_t TypeOf(const Event& event) {
  if (event.type != 0) return event.type;
  switch (event.legacy_phase) {
    case 'B':
    case 'X':
      return fields::kSliceBegin;
    case 'E':
      return fields::kSliceEnd;
    case 'I':
    case 'i':
    case 'R':
    case 'n':
      return fields::kInstant;
    default:
      return 0;
  }
}

// How many edges each track has before it; one more at the end.
template <typename Edges>
std::vector<size_t> FirstOfTracks(const Edges& edges, size_t tracks) {
  std::vector<size_t> first(tracks + 1);
  for (const auto& edge : edges) ++first[edge.track + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

}  // namespace

// Rows that an event may fill besides its slice.
struct TraceReader::Details {
  TimelineDeviceWorkRow work;
  TimelineOpRow op;
  TimelineCollectiveRow collective;
  bool has_work = false, has_op = false, has_collective = false;
};

TraceReader::TraceReader(const Identity& who, Part& part)
    : who_(who),
      part_(part),
      writer_(who, part),
      about_(writer_, tracks_),
      about_category_(part.pools.Intern(timeline::kAboutCategory)),
      memory_name_(part.pools.Intern(kMemoryName)),
      instant_(part.pools.Intern(timeline::kInstant)) {
  auto notes = std::make_unique<TraceNotes>();
  notes_ = notes.get();
  part.notes = std::move(notes);
}

void TraceReader::Report(const DiagnosticKind& kind, uint64_t offset, std::string detail) {
  part_.diagnostics.Add(kind, who_.input,
                        {.offset = static_cast<int64_t>(offset), .detail = std::move(detail)});
}

void TraceReader::Lose(const DiagnosticKind& kind, uint64_t offset) {
  ++notes_->lost;
  Report(kind, offset);
}

void TraceReader::Take(std::string_view bytes, uint64_t offset) {
  if (!ParsePacket(bytes, packet_)) return Lose(kBadPacket, offset);
  TakeParsed(packet_, offset, /*is_unpacked=*/false);
}

void TraceReader::TakeParsed(const Packet& packet, uint64_t offset, bool is_unpacked) {
  if (!packet.is_of_use) {
    // An empty packet, or one that only clears the state, says nothing that could be lost.
    Sequence& sequence = sequences_[packet.sequence];
    (void)sequence.Take(packet, part_.pools);
    return part_.diagnostics.AddMany(kOtherPacket, who_.input, 1);
  }
  if (!packet.compressed.empty()) {
    if (is_unpacked) return Lose(kBadCompression, offset);
    return TakeCompressed(packet.compressed, offset);
  }
  if (!packet.clocks.empty())
    clocks_.AddSnapshot(packet.sequence, packet.clocks, packet.primary_clock);
  Sequence& sequence = sequences_[packet.sequence];
  const bool has_state = sequence.Take(packet, part_.pools);
  if (packet.descriptor) tracks_.Describe(*packet.descriptor);
  if (packet.thread) {
    tracks_.DescribeThread(*packet.thread, tracks_.at(tracks_.IndexOf(ThreadUuid(*packet.thread))));
  }
  if (!packet.has_event) return;
  ++notes_->events;
  if (!has_state) return Lose(kLostState, offset);
  TakeEvent(packet, sequence, offset);
}

void TraceReader::TakeCompressed(std::string_view packed, uint64_t offset) {
  Result<std::string> unpacked = InflateZlib(packed, kMostUnpacked);
  if (!unpacked.ok()) {
    ++notes_->lost;
    return Report(kBadCompression, offset, unpacked.status().message());
  }
  std::string_view rest = unpacked.value();
  while (!rest.empty()) {
    const Framing framing = ReadFraming(rest);
    if (framing.header == 0 || framing.length > rest.size() - framing.header)
      return Lose(kBadCompression, offset);
    const std::string_view bytes = rest.substr(framing.header, static_cast<size_t>(framing.length));
    rest.remove_prefix(framing.header + bytes.size());
    if (ParsePacket(bytes, unpacked_)) {
      TakeParsed(unpacked_, offset, /*is_unpacked=*/true);
    } else {
      Lose(kBadPacket, offset);
    }
  }
}

std::optional<int64_t> TraceReader::TimeOf(const Packet& packet, Sequence& sequence) {
  const uint32_t clock = sequence.ClockOf(packet);
  if (packet.time) return clocks_.ToTraceTime(packet.sequence, clock, *packet.time);
  const auto time = sequence.OldTime(packet.event);
  if (!time || *time < 0) return std::nullopt;
  return clocks_.ToTraceTime(packet.sequence, clock, static_cast<uint64_t>(*time));
}

void TraceReader::TakeEvent(const Packet& packet, Sequence& sequence, uint64_t offset) {
  const auto time = TimeOf(packet, sequence);
  if (!time) return Lose(kNoTime, offset);
  AddEvent(packet.event, *time, sequence, offset);
}

void TraceReader::AddEvent(const Event& event, int64_t time, const Sequence& sequence,
                           uint64_t offset) {
  const int32_t type = TypeOf(event);
  if (type == fields::kInstant && CategoryOf(event, sequence) == about_category_) {
    const AnnotationValues values(event.annotations, sequence, part_.pools);
    const std::string name(part_.pools.Text(sequence.NameOf(event.name, part_.pools)));
    --notes_->events;  // one of ours: no event of the program
    return about_.Take(name, time, values);
  }
  AddCounters(event, time, sequence);
  if (type == fields::kCounter) {
    if (event.counter)
      AddCounter(event.track.value_or(sequence.DefaultTrack()), time, *event.counter);
  } else if (type == fields::kSliceEnd) {
    edges_.push_back({time, UseTrack(event.track.value_or(sequence.DefaultTrack())), kEnd});
  } else if (type == fields::kSliceBegin || type == fields::kInstant) {
    AddSlice(event, type, time, sequence, offset);
  } else {
    part_.diagnostics.AddMany(kUnknownEvent, who_.input, 1);
  }
}

uint32_t TraceReader::UseTrack(uint64_t uuid) {
  const size_t index = tracks_.IndexOf(uuid);
  tracks_.at(index).is_used = true;
  return static_cast<uint32_t>(index);
}

StringId TraceReader::CategoryOf(const Event& event, const Sequence& sequence) {
  return event.categories.empty() ? StringId::kNone
                                  : sequence.CategoryOf(event.categories.front(), part_.pools);
}

StringId TraceReader::NameOf(const Event& event, const Sequence& sequence, uint64_t offset) {
  const StringId name = sequence.NameOf(event.name, part_.pools);
  if (name != StringId::kNone) return name;
  Report(kUnknownName, offset, fmt::format("name {}", event.name.iid));
  return writer_.Intern(fmt::format("name {}", event.name.iid));
}

const TraceReader::Category& TraceReader::KindOf(StringId category) {
  const auto [found, is_new] = categories_.try_emplace(category);
  if (is_new) {
    const std::string_view kind = timeline::KindOfCategory(part_.pools.Text(category));
    found->second = {writer_.Intern(kind), timeline::IsDeviceKind(kind)};
  }
  return found->second;
}

void TraceReader::AddSlice(const Event& event, int32_t type, int64_t time, const Sequence& sequence,
                           uint64_t offset) {
  const AnnotationValues values(event.annotations, sequence, part_.pools);
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.start_ns = time;
  row.duration_ns = 0;
  row.name = NameOf(event, sequence, offset);
  row.category = CategoryOf(event, sequence);
  const uint32_t track = UseTrack(event.track.value_or(sequence.DefaultTrack()));
  row.track = static_cast<int32_t>(track);
  const bool is_instant = type == fields::kInstant;
  if (is_instant && row.name == memory_name_) {
    auto memory = writer_.NewRow<TimelineMemoryRow>();
    memory.track = row.track;
    memory.time_ns = time;
    values.Fill(memory);
    return part_.tables.Edit<TimelineMemoryTable>().Add(memory);
  }
  const Category& category = KindOf(row.category);
  row.kind = is_instant ? instant_ : category.kind;
  Details details;
  for (size_t at = 0; at < values.size(); ++at) {
    const AnnotationValues::Key key = values.KeyOf(at);
    switch (key.group) {
      case Group::kSlice:
        if (key.text == timeline::kCorrelationKey) values.Assign(at, row.correlation);
        if (key.text == timeline::kExternalIdKey) values.Assign(at, row.external_id);
        if (key.text == timeline::kKindKey && about_.timeline()) values.Assign(at, row.kind);
        break;
      case Group::kWork:
        details.has_work = true;
        values.AssignTo(details.work, key.text, at);
        break;
      case Group::kOp:
        details.has_op = true;
        values.AssignTo(details.op, key.text, at);
        break;
      case Group::kCollective:
        details.has_collective = true;
        values.AssignTo(details.collective, key.text, at);
        break;
      default:
        break;
    }
  }
  if (event.legacy_phase == 'X' && event.type == 0) {
    int64_t duration = 0;
    const bool fits = !__builtin_mul_overflow(event.legacy_duration_us, int64_t{1000}, &duration);
    row.duration_ns = fits ? std::clamp<int64_t>(duration, 0, kMostDuration) : 0;
  }
  const int32_t slice = writer_.AddSlice(row);
  if (type == fields::kSliceBegin && (event.legacy_phase != 'X' || event.type != 0))
    edges_.push_back({time, track, static_cast<uint32_t>(slice)});
  tracks_.at(track).has_work |= category.is_of_device && !is_instant;
  AddDetails(details, category.is_of_device, slice);
  for (const auto& [id, ends] : event.flows) arrows_.push_back({time, id, track, ends});
}

// Rows of details; `device` and `stream` of an op of another program are no work of a device.
void TraceReader::AddDetails(const Details& details, bool is_of_device, int32_t slice) {
  auto add = [&](auto row, auto& table) {
    row.input = who_.input;
    row.job = who_.job;
    row.attempt = who_.attempt;
    row.rank = who_.rank;
    row.slice = slice;
    table.Add(row);
  };
  if (details.has_work && (is_of_device || about_.timeline()))
    add(details.work, part_.tables.Edit<TimelineDeviceWorkTable>());
  if (details.has_op) add(details.op, part_.tables.Edit<TimelineOpTable>());
  if (details.has_collective) add(details.collective, part_.tables.Edit<TimelineCollectiveTable>());
}

// Values that events of any type carry for counters besides.
void TraceReader::AddCounters(const Event& event, int64_t time, const Sequence& sequence) {
  const PacketDefaults& defaults = sequence.defaults();
  auto add = [&](const std::vector<uint64_t>& tracks, const std::vector<double>& values) {
    for (size_t i = 0; i < std::min(tracks.size(), values.size()); ++i)
      AddCounter(tracks[i], time, values[i]);
  };
  add(event.extra_tracks ? *event.extra_tracks : defaults.extra_tracks, event.extra_values);
  add(event.extra_double_tracks ? *event.extra_double_tracks : defaults.extra_double_tracks,
      event.extra_double_values);
}

void TraceReader::AddCounter(uint64_t uuid, int64_t time, double value) {
  const uint32_t index = UseTrack(uuid);
  Tracks::Track& track = tracks_.at(index);
  track.is_counter = true;
  track.sum = track.is_incremental ? track.sum + value : value;
  auto row = writer_.NewRow<TimelineCounterRow>();
  row.track = static_cast<int32_t>(index);
  row.time_ns = time;
  row.number = track.sum * track.unit_multiplier;
  part_.tables.Edit<TimelineCounterTable>().Add(row);
}

void TraceReader::Finish() {
  PairEdges();
  PlaceRows();
  notes_->base_ns = clocks_.Base();
  notes_->timeline = about_.timeline();
  if (!notes_->timeline) return;
  notes_->producer = part_.pools.Text(notes_->timeline->producer);
  notes_->backend = part_.pools.Text(notes_->timeline->backend);
}

void TraceReader::PairTrack(std::span<Edge> edges, int64_t last) {
  auto& durations = part_.tables.Edit<TimelineSliceTable>().duration_ns;
  auto earlier = [](const Edge& a, const Edge& b) { return a.time < b.time; };
  if (!std::is_sorted(edges.begin(), edges.end(), earlier))
    std::stable_sort(edges.begin(), edges.end(), earlier);
  std::vector<const Edge*> open;
  int64_t never_begun = 0;
  for (const Edge& edge : edges) {
    if (edge.slice != kEnd) {
      open.push_back(&edge);
    } else if (open.empty()) {
      ++never_begun;
    } else {
      durations[open.back()->slice] = edge.time - open.back()->time;
      open.pop_back();
    }
  }
  for (const Edge* edge : open) durations[edge->slice] = last - edge->time;
  if (!open.empty())
    part_.diagnostics.AddMany(kNeverEnded, who_.input, static_cast<int64_t>(open.size()));
  if (never_begun > 0) part_.diagnostics.AddMany(kNeverBegun, who_.input, never_begun);
}

// Edges of each track together, in the order of the file.
void TraceReader::PairEdges() {
  int64_t last = std::numeric_limits<int64_t>::min();
  uint32_t tracks = 0;
  for (const Edge& edge : edges_) {
    last = std::max(last, edge.time);
    tracks = std::max(tracks, edge.track + 1);
  }
  const std::vector<size_t> first = FirstOfTracks(edges_, tracks);
  std::vector<size_t> next(first.begin(), first.end() - 1);
  std::vector<Edge> grouped(edges_.size());
  for (const Edge& edge : edges_) grouped[next[edge.track]++] = edge;
  edges_ = {};
  for (size_t track = 0; track < tracks; ++track)
    PairTrack(std::span(grouped).subspan(first[track], first[track + 1] - first[track]), last);
}

// The earliest end of an arrow is its start; a terminating one its end; the others are between.
void TraceReader::AddArrows() {
  std::unordered_map<uint64_t, size_t> earliest;
  for (size_t i = 0; i < arrows_.size(); ++i) {
    const auto [found, is_new] = earliest.try_emplace(arrows_[i].id, i);
    if (!is_new && arrows_[i].time < arrows_[found->second].time) found->second = i;
  }
  const StringId start = writer_.Intern(timeline::kFlowStart),
                 step = writer_.Intern(timeline::kFlowStep),
                 end = writer_.Intern(timeline::kFlowEnd), name = writer_.Intern(kFlowName);
  for (size_t i = 0; i < arrows_.size(); ++i) {
    const Arrow& arrow = arrows_[i];
    auto row = writer_.NewRow<TimelineFlowRow>();
    row.track = static_cast<int32_t>(arrow.track);
    row.time_ns = arrow.time;
    row.name = name;
    row.id = static_cast<int64_t>(arrow.id);
    row.phase = earliest[arrow.id] == i ? start : arrow.ends ? end : step;
    part_.tables.Edit<TimelineFlowTable>().Add(row);
  }
}

// Rows get the number of their track in the model instead of its position in our list.
void TraceReader::PlaceRows() {
  const bool is_ours = about_.timeline().has_value();
  auto& flows = part_.tables.Edit<TimelineFlowTable>();
  const size_t told_flows = flows.size();
  if (!is_ours) AddArrows();
  const std::vector<int32_t> numbers = tracks_.Resolve(writer_);
  if (!is_ours) tracks_.NameProcesses(writer_);
  auto place = [&](std::vector<int32_t>& column, size_t first) {
    for (size_t row = first; row < column.size(); ++row)
      column[row] = numbers[static_cast<size_t>(column[row])];
  };
  auto& counters = part_.tables.Edit<TimelineCounterTable>();
  for (size_t row = 0; row < counters.size(); ++row) {
    const Tracks::Track& track = tracks_.at(static_cast<size_t>(counters.track[row]));
    const std::string_view unit = track.unit.empty() ? "value" : std::string_view(track.unit);
    counters.series[row] = track.series != StringId::kNone ? track.series : writer_.Intern(unit);
  }
  place(part_.tables.Edit<TimelineSliceTable>().track, 0);
  place(part_.tables.Edit<TimelineMemoryTable>().track, 0);
  place(counters.track, 0);
  place(flows.track, told_flows);
}

}  // namespace debrief::inputs::perfetto
