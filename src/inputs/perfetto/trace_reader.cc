#include "inputs/perfetto/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/bytes/gzip.h"
#include "inputs/perfetto/about.h"
#include "inputs/perfetto/clocks.h"
#include "inputs/perfetto/diagnostics.h"
#include "inputs/perfetto/packet.h"
#include "inputs/perfetto/sequence.h"
#include "model/timeline/kinds.h"
#include "model/timeline/perfetto_fields.h"
#include "model/timeline/writer.h"
#include "model/trace_events/rest_args.h"
#include "tables/timeline_args.h"
#include "tables/timeline_counter.h"

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

class TraceReader {
 public:
  TraceReader(const Identity& who, bool keeps_args, Part& part)
      : who_(who),
        keeps_args_(keeps_args),
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

  // One packet, which begins at `offset` of the file.
  void Take(std::string_view bytes, uint64_t offset) {
    if (!ParsePacket(bytes, packet_)) return Lose(kBadPacket, offset);
    TakeParsed(packet_, offset, /*is_unpacked=*/false);
  }

  // Once, after all packets.
  void Finish() {
    PairEdges();
    PlaceRows();
    notes_->base_ns = clocks_.Base();
    notes_->timeline = about_.timeline();
    if (!notes_->timeline) return;
    notes_->producer = part_.pools.Text(notes_->timeline->producer);
    notes_->backend = part_.pools.Text(notes_->timeline->backend);
  }

 private:
  // Where a slice begins or ends.
  struct Edge {
    int64_t time = 0;
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

  // Rows that an event may fill besides its slice.
  struct Details {
    explicit Details(const timeline::TimelineWriter& writer)
        : work(writer.NewRow<TimelineDeviceWorkRow>()),
          op(writer.NewRow<TimelineOpRow>()),
          collective(writer.NewRow<TimelineCollectiveRow>()) {}

    TimelineDeviceWorkRow work;
    TimelineOpRow op;
    TimelineCollectiveRow collective;
    bool has_work = false, has_op = false, has_collective = false;
  };

  void TakeParsed(const Packet& packet, uint64_t offset, bool is_unpacked) {
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
      tracks_.DescribeThread(*packet.thread,
                             tracks_.at(tracks_.IndexOf(ThreadUuid(*packet.thread))));
    }
    if (!packet.has_event) return;
    ++notes_->events;
    if (!has_state) return Lose(kLostState, offset);
    const auto time = TimeOf(packet, sequence);
    if (!time) return Lose(kNoTime, offset);
    AddEvent(packet.event, *time, sequence, offset);
  }

  void TakeCompressed(std::string_view packed, uint64_t offset) {
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
      const std::string_view bytes =
          rest.substr(framing.header, static_cast<size_t>(framing.length));
      rest.remove_prefix(framing.header + bytes.size());
      if (ParsePacket(bytes, unpacked_)) {
        TakeParsed(unpacked_, offset, /*is_unpacked=*/true);
      } else {
        Lose(kBadPacket, offset);
      }
    }
  }

  std::optional<int64_t> TimeOf(const Packet& packet, Sequence& sequence) {
    const uint32_t clock = sequence.ClockOf(packet);
    if (packet.time) return clocks_.ToTraceTime(packet.sequence, clock, *packet.time);
    const auto time = sequence.OldTime(packet.event);
    if (!time || *time < 0) return std::nullopt;
    return clocks_.ToTraceTime(packet.sequence, clock, static_cast<uint64_t>(*time));
  }

  void AddEvent(const Event& event, int64_t time, const Sequence& sequence, uint64_t offset) {
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
      AddEdge(UseTrack(event.track.value_or(sequence.DefaultTrack())), {time, kEnd});
    } else if (type == fields::kSliceBegin || type == fields::kInstant) {
      AddSlice(event, type, time, sequence, offset);
    } else {
      part_.diagnostics.AddMany(kUnknownEvent, who_.input, 1);
    }
  }

  void AddSlice(const Event& event, int32_t type, int64_t time, const Sequence& sequence,
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
    Details details(writer_);
    const bool has_work = category.is_of_device || about_.timeline();
    rest_.clear();
    for (size_t at = 0; at < values.size(); ++at) {
      if (!TakeArg(values, at, has_work, row, details)) KeepArg(values, at);
    }
    const bool is_whole = event.legacy_phase == 'X' && event.type == 0;
    if (is_whole) {
      int64_t duration = 0;
      const bool fits = !__builtin_mul_overflow(event.legacy_duration_us, int64_t{1000}, &duration);
      row.duration_ns = fits ? std::clamp<int64_t>(duration, 0, kMostDuration) : 0;
    }
    const int32_t slice = writer_.AddSlice(row);
    if (type == fields::kSliceBegin && !is_whole)
      AddEdge(track, {time, static_cast<uint32_t>(slice)});
    tracks_.at(track).has_work |= category.is_of_device && !is_instant;
    AddDetails(details, slice);
    for (const auto& [id, ends] : event.flows) arrows_.push_back({time, id, track, ends});
  }

  // Puts an annotation into the column that it has; false when it has none. `device` and `stream`
  // of an op of another program are no work of a device (`has_work`); in a trace of ours the
  // dictionary of arguments holds those that have no column.
  bool TakeArg(const AnnotationValues& values, size_t at, bool has_work, TimelineSliceRow& row,
               Details& details) {
    const AnnotationValues::Key key = values.KeyOf(at);
    if (key.in_args && about_.timeline()) return false;
    switch (key.group) {
      case Group::kSlice:
        if (key.text == timeline::kCorrelationKey) return values.Assign(at, row.correlation);
        if (key.text == timeline::kExternalIdKey) return values.Assign(at, row.external_id);
        return about_.timeline() && values.Assign(at, row.kind);
      case Group::kWork:
        details.has_work |= has_work;
        return has_work &&
               (key.text == timeline::kWorkKey || values.AssignTo(details.work, key.text, at));
      case Group::kOp:
        details.has_op = true;
        return key.text == timeline::kOpKey || values.AssignTo(details.op, key.text, at);
      case Group::kCollective:
        details.has_collective = true;
        return key.text == timeline::kCollectiveKey ||
               values.AssignTo(details.collective, key.text, at);
      default:
        TakeSizes(values, at, key.text, details.work);
        return false;
    }
  }

  // The profiler tells grids and blocks by their three sizes; the columns have the products.
  static void TakeSizes(const AnnotationValues& values, size_t at, std::string_view key,
                        TimelineDeviceWorkRow& work) {
    if (key == "grid" && work.blocks == kNone64) work.blocks = values.ProductOf(at);
    if (key != "block" || work.threads != kNone32) return;
    const int64_t threads = values.ProductOf(at);
    if (threads != kNone64 && threads <= std::numeric_limits<int32_t>::max())
      work.threads = static_cast<int32_t>(threads);
  }

  // Those inside of others are told with them.
  void KeepArg(const AnnotationValues& values, size_t at) {
    const std::string_view key = values.KeyOf(at).text;
    if (!keeps_args_ || key.empty() || values.IsArgs(at)) return;
    json_.clear();
    values.AppendJsonOf(at, json_);
    trace_events::AppendRest(key, json_, rest_);
  }

  void AddDetails(const Details& details, int32_t slice) {
    auto add = [&](auto row, auto& table) {
      row.slice = slice;
      table.Add(row);
    };
    if (details.has_work) add(details.work, part_.tables.Edit<TimelineDeviceWorkTable>());
    if (details.has_op) add(details.op, part_.tables.Edit<TimelineOpTable>());
    if (details.has_collective)
      add(details.collective, part_.tables.Edit<TimelineCollectiveTable>());
    if (rest_.empty()) return;
    auto args = writer_.NewRow<TimelineArgsRow>();
    args.args = writer_.Intern(rest_ + "}");
    add(args, part_.tables.Edit<TimelineArgsTable>());
  }

  // Values that events of any type carry for counters besides.
  void AddCounters(const Event& event, int64_t time, const Sequence& sequence) {
    const PacketDefaults& defaults = sequence.defaults();
    auto add = [&](const std::vector<uint64_t>& tracks, const std::vector<double>& values) {
      for (size_t i = 0; i < std::min(tracks.size(), values.size()); ++i)
        AddCounter(tracks[i], time, values[i]);
    };
    add(event.extra_tracks ? *event.extra_tracks : defaults.extra_tracks, event.extra_values);
    add(event.extra_double_tracks ? *event.extra_double_tracks : defaults.extra_double_tracks,
        event.extra_double_values);
  }

  void AddCounter(uint64_t uuid, int64_t time, double value) {
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

  StringId CategoryOf(const Event& event, const Sequence& sequence) {
    return event.categories.empty() ? StringId::kNone
                                    : sequence.CategoryOf(event.categories.front(), part_.pools);
  }

  StringId NameOf(const Event& event, const Sequence& sequence, uint64_t offset) {
    const StringId name = sequence.NameOf(event.name, part_.pools);
    if (name != StringId::kNone) return name;
    Report(kUnknownName, offset, fmt::format("name {}", event.name.iid));
    return writer_.Intern(fmt::format("name {}", event.name.iid));
  }

  const Category& KindOf(StringId category) {
    const auto [found, is_new] = categories_.try_emplace(category);
    if (is_new) {
      const std::string_view kind = timeline::KindOfCategory(part_.pools.Text(category));
      found->second = {writer_.Intern(kind), timeline::IsDeviceKind(kind)};
    }
    return found->second;
  }

  uint32_t UseTrack(uint64_t uuid) {
    const size_t index = tracks_.IndexOf(uuid);
    tracks_.at(index).is_used = true;
    return static_cast<uint32_t>(index);
  }

  void AddEdge(uint32_t track, Edge edge) {
    if (track >= edges_.size()) edges_.resize(size_t{track} + 1);
    edges_[track].push_back(edge);
    last_edge_ = std::max(last_edge_, edge.time);
  }

  // Begins and ends pair up like brackets on their track, in order of time.
  void PairEdges() {
    auto& durations = part_.tables.Edit<TimelineSliceTable>().duration_ns;
    const auto earlier = [](const Edge& a, const Edge& b) { return a.time < b.time; };
    int64_t never_begun = 0, never_ended = 0;
    std::vector<const Edge*> open;
    for (std::vector<Edge>& edges : edges_) {
      if (!std::is_sorted(edges.begin(), edges.end(), earlier))
        std::stable_sort(edges.begin(), edges.end(), earlier);
      open.clear();
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
      for (const Edge* edge : open) durations[edge->slice] = last_edge_ - edge->time;
      never_ended += static_cast<int64_t>(open.size());
    }
    edges_ = {};
    if (never_ended > 0) part_.diagnostics.AddMany(kNeverEnded, who_.input, never_ended);
    if (never_begun > 0) part_.diagnostics.AddMany(kNeverBegun, who_.input, never_begun);
  }

  // The earliest end of an arrow is its start; a terminating one its end; the others are between.
  void AddArrows() {
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
  void PlaceRows() {
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

  void Report(const DiagnosticKind& kind, uint64_t offset, std::string detail = {}) {
    part_.diagnostics.Add(kind, who_.input,
                          {.offset = static_cast<int64_t>(offset), .detail = std::move(detail)});
  }

  void Lose(const DiagnosticKind& kind, uint64_t offset) {
    ++notes_->lost;
    Report(kind, offset);
  }

  Identity who_;
  bool keeps_args_;
  Part& part_;
  timeline::TimelineWriter writer_;
  TraceNotes* notes_;
  Packet packet_, unpacked_;
  Clocks clocks_;
  Tracks tracks_;
  About about_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  std::unordered_map<StringId, Category> categories_;
  std::vector<std::vector<Edge>> edges_;  // by track
  int64_t last_edge_ = std::numeric_limits<int64_t>::min();
  std::vector<Arrow> arrows_;
  std::string rest_, json_;  // arguments of the event being read
  StringId about_category_, memory_name_, instant_;
};

}  // namespace

Status ReadPackets(PacketStream& stream, const Identity& who, bool keeps_args, Part& part) {
  TraceReader reader(who, keeps_args, part);
  Status status;
  std::string_view packet;
  for (;;) {
    Result<bool> more = stream.Next(packet);
    if (!more.ok()) status = more.status();
    if (!more.ok() || !more.value()) break;
    reader.Take(packet, stream.offset());
  }
  reader.Finish();
  return status;
}

}  // namespace debrief::inputs::perfetto
