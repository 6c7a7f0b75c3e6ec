#include "model/trace_events/event.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/bytes/hash.h"
#include "base/text/micros.h"
#include "base/text/strings.h"
#include "model/timeline/columns.h"
#include "model/timeline/kinds.h"
#include "model/trace_events/diagnostics.h"
#include "tables/timeline_args.h"

namespace debrief::trace_events {

namespace {

using namespace timeline;  // NOLINT: the words of kinds.h

// A number or a text without its quotes.
std::string_view TokenOf(JsonValue value) {
  std::string_view token = value.Raw().value_or(std::string_view());
  while (!token.empty() && token.back() <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"') token = token.substr(1, token.size() - 2);
  return token;
}

// "12", "0x1f", or any text: a number that is the same for the same text.
int64_t IdNumber(std::string_view text) {
  int base = 10;
  std::string_view digits = text;
  if (text.starts_with("0x")) {
    base = 16;
    digits = text.substr(2);
  }
  const auto number = ParseNumber<uint64_t>(digits, base);
  return static_cast<int64_t>((number ? *number : HashBytes(text)) &
                              std::numeric_limits<int64_t>::max());
}

std::string_view TrackKindOf(std::string_view kind) {
  if (kind == kDeviceAnnotation) return kStreamAnnotation;
  return IsDeviceKind(kind) ? kStream : kThread;
}

// Arrows from a launch to its work: `correlation` says the same.
bool RepeatsCorrelation(std::string_view category) {
  return category == "ac2g" || category == "async_gpu" || category == "async_cpu_to_gpu";
}

bool IsNull(int32_t value) { return value == kNone32; }
bool IsNull(int64_t value) { return value == kNone64; }
bool IsNull(double value) { return std::isnan(value); }
bool IsNull(StringId value) { return value == StringId::kNone; }
bool IsNull(ListId value) { return value == ListId::kNone; }

StringId InternIfAny(TimelineWriter& writer, std::string_view text) {
  return text.empty() ? StringId::kNone : writer.Intern(text);
}

}  // namespace

void RangeNotes::Take(RangeNotes&& later) {
  std::move(later.namings.begin(), later.namings.end(), std::back_inserter(namings));
  events += later.events;
  repeated_flows += later.repeated_flows;
  if (repaired_at == kNone64) repaired_at = later.repaired_at;
}

EventParser::EventParser(const Identity& who, Part& part, bool keeps_args)
    : who_(who), writer_(who, part), keeps_args_(keeps_args) {
  auto notes = std::make_unique<RangeNotes>();
  notes_ = notes.get();
  part.notes = std::move(notes);
}

Status EventParser::Add(JsonValue element, uint64_t offset) {
  offset_ = offset;
  event_offset_ = offset_ + element.offset();
  Event event;
  TRY(ReadFields(element, event));
  ++notes_->events;
  Dispatch(event);
  return {};
}

Status EventParser::ReadFields(JsonValue element, Event& event) {
  return element.ForEachField([&](std::string_view key, JsonValue value) {
    switch (key.size()) {
      case 2:
        if (key == "ph") event.phase = TokenOf(value);
        if (key == "ts") event.time = TokenOf(value);
        if (key == "id") event.id = TokenOf(value);
        return;
      case 3:
        if (key == "pid") event.pid = TokenOf(value);
        if (key == "tid") event.tid = TokenOf(value);
        if (key == "dur") event.duration = TokenOf(value);
        if (key == "cat") event.category = value.String().value_or(std::string_view());
        if (key == "id2") event.id = TokenOf(value);
        return;
      case 4:
        if (key == "name") event.name = value.String().value_or(std::string_view());
        if (key == "args" || key == "attr") ReadArgs(key, value, event);
        return;
      default:
        return;
    }
  });
}

void EventParser::ReadArgs(std::string_view key, JsonValue value, Event& event) {
  event.args_offset = offset_ + value.offset();
  if (!keeps_args_) return ReadArgsOf(value, event);
  // A value is walked once, and what is kept is known when the rows are made: the text is read
  // again.
  const size_t which = key == "args" ? 0 : 1;
  event.raw_args[which] = value.Raw().value_or("");
  JsonReader& reader = args_readers_[which];
  if (!reader.OpenElements(event.raw_args[which]).ok()) return;
  (void)reader.root().ForEachElement([&](JsonValue object) { ReadArgsOf(object, event); });
}

void EventParser::ReadArgsOf(JsonValue value, Event& event) {
  // Writers that sort their keys put the args before the phase.
  bool may_count = event.phase.empty() || event.phase == "C";
  counter_values_.clear();
  (void)value.ForEachField([&](std::string_view key, JsonValue field) {
    if (may_count) {
      if (auto number = field.Double()) counter_values_.emplace_back(key, *number);
    }
    ReadArg(key, field, event.args);
  });
}

void EventParser::Dispatch(const Event& event) {
  if (event.phase.size() != 1) return Report(kUnknownPhase, event, event.phase);
  switch (event.phase[0]) {
    case 'X':
      return AddComplete(event);
    case 'B':
      return AddEdge(event, true);
    case 'E':
      return AddEdge(event, false);
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'F':
    case 'T':
    case 'p':
      return AddAsync(event);
    case 'i':
    case 'I':
    case 'R':
      return AddInstant(event);
    case 'C':
      return AddCounter(event);
    case 's':
    case 't':
    case 'f':
      return AddFlow(event);
    case 'M':
      return AddNaming(event);
    default:
      return Report(kUnknownPhase, event, event.phase);
  }
}

const EventParser::Category& EventParser::CategoryOf(std::string_view text) {
  if (last_category_ < categories_.size() && categories_[last_category_].text == text)
    return categories_[last_category_];
  auto found = std::find_if(categories_.begin(), categories_.end(),
                            [&](const Category& each) { return each.text == text; });
  last_category_ = static_cast<size_t>(found - categories_.begin());
  if (found != categories_.end()) return *found;
  std::string_view kind = KindOfCategory(text);
  categories_.push_back({std::string(text), InternIfAny(writer_, text), writer_.Intern(kind), kind,
                         TrackKindOf(kind)});
  return categories_.back();
}

int32_t EventParser::TrackOf(const Event& event, std::string_view kind) {
  size_t mixed = HashBytes(event.tid) + HashBytes(event.pid) * 31 + kind.size();
  CachedTrack& cached = tracks_[mixed % tracks_.size()];
  bool hit = cached.track != kNone32 && cached.kind == kind && cached.tid == event.tid &&
             cached.pid == event.pid;
  if (!hit) {
    int32_t track = writer_.Track(event.pid, event.tid, kind);
    cached = {std::string(event.pid), std::string(event.tid), kind, track};
  }
  return cached.track;
}

bool EventParser::ReadTime(const Event& event, int64_t& ns) {
  auto time = MicrosToNs(event.time);
  if (!time) Report(kNoTime, event, event.name);
  ns = time.value_or(0);
  return time.has_value();
}

TimelineSliceRow EventParser::SliceRow(const Event& event, const Category& category, int32_t track,
                                       int64_t start) {
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = track;
  row.start_ns = start;
  row.name = writer_.Intern(event.name);
  row.category = category.id;
  row.kind = category.kind;
  row.correlation = event.args.correlation;
  row.external_id = event.args.external_id;
  if (event.args_offset > 0) row.args_offset = static_cast<int64_t>(event.args_offset);
  return row;
}

void EventParser::AddComplete(const Event& event) {
  int64_t start = 0;
  if (!ReadTime(event, start)) return;
  const Category& category = CategoryOf(event.category);
  TimelineSliceRow row = SliceRow(event, category, TrackOf(event, category.track_kind), start);
  auto duration = MicrosToNs(event.duration);
  if (!duration || *duration < 0) Report(kBadDuration, event, event.name);
  row.duration_ns = std::max<int64_t>(duration.value_or(0), 0);
  AddDetails(event, writer_.AddSlice(row));
}

void EventParser::AddEdge(const Event& event, bool is_begin) {
  int64_t time = 0;
  if (!ReadTime(event, time)) return;
  const Category& category = CategoryOf(event.category);
  // An end need not repeat the category, so that edges are always those of a thread.
  TimelineSliceRow row = SliceRow(event, category, TrackOf(event, kThread), time);
  if (is_begin) {
    row.external_id = kNone64;
    AddDetails(event, writer_.AddBegin(row));
  } else {
    row.external_id = kNone64;
    writer_.AddEnd(row);
  }
}

void EventParser::AddAsync(const Event& event) {
  int64_t time = 0;
  if (!ReadTime(event, time)) return;
  Event on_chain = event;
  on_chain.tid = event.category;
  TimelineSliceRow row =
      SliceRow(event, CategoryOf(event.category), TrackOf(on_chain, kAsync), time);
  row.kind = writer_.Intern(kAsync);
  int64_t id = IdNumber(event.id);
  told_.clear();
  if (event.phase == "b" || event.phase == "S") {
    AddRest(event, writer_.AddBegin(row, id));
  } else if (event.phase == "e" || event.phase == "F") {
    writer_.AddEnd(row, id);
  } else {
    row.external_id = id;
    row.duration_ns = 0;
    AddRest(event, writer_.AddSlice(row));
  }
}

void EventParser::AddInstant(const Event& event) {
  int64_t time = 0;
  if (!ReadTime(event, time)) return;
  if (event.name == "[memory]") return AddMemory(event, time);
  TimelineSliceRow row = SliceRow(event, CategoryOf(event.category), TrackOf(event, kThread), time);
  row.kind = writer_.Intern(kInstant);
  row.duration_ns = 0;
  told_.clear();
  AddRest(event, writer_.AddSlice(row));
}

void EventParser::AddMemory(const Event& event, int64_t time) {
  auto row = writer_.NewRow<TimelineMemoryRow>();
  row.track = TrackOf(event, kThread);
  row.time_ns = time;
  row.address = event.args.address;
  row.bytes = event.args.memory_bytes;
  row.allocated_bytes = event.args.allocated_bytes;
  row.reserved_bytes = event.args.reserved_bytes;
  row.device_type = Narrow(event.args.device_type);
  row.device = Narrow(event.args.memory_device);
  writer_.part().tables.Edit<TimelineMemoryTable>().Add(row);
}

void EventParser::AddCounter(const Event& event) {
  int64_t time = 0;
  if (!ReadTime(event, time)) return;
  Event on_counter = event;
  std::string tid(event.name);
  if (!event.id.empty()) tid.append("[").append(event.id).append("]");
  on_counter.tid = tid;
  auto row = writer_.NewRow<TimelineCounterRow>();
  row.track = TrackOf(on_counter, timeline::kCounter);
  row.time_ns = time;
  for (const auto& [series, number] : counter_values_) {
    row.series = writer_.Intern(series);
    row.number = number;
    writer_.part().tables.Edit<TimelineCounterTable>().Add(row);
  }
}

void EventParser::AddFlow(const Event& event) {
  if (RepeatsCorrelation(event.category)) {
    ++notes_->repeated_flows;
    return;
  }
  int64_t time = 0;
  if (!ReadTime(event, time)) return;
  auto row = writer_.NewRow<TimelineFlowRow>();
  row.track = TrackOf(event, kThread);
  row.time_ns = time;
  row.name = writer_.Intern(event.name.empty() ? event.category : event.name);
  row.id = IdNumber(event.id);
  std::string_view end = event.phase == "s"   ? kFlowStart
                         : event.phase == "t" ? kFlowStep
                                              : kFlowEnd;
  row.phase = writer_.Intern(end);
  writer_.part().tables.Edit<TimelineFlowTable>().Add(row);
}

void EventParser::AddNaming(const Event& event) {
  Naming naming{.pid = std::string(event.pid),
                .tid = std::string(event.tid),
                .name = std::string(event.args.name),
                .labels = std::string(event.args.labels),
                .sort_index = event.args.sort_index,
                .is_process = event.name.starts_with("process_")};
  if (naming.is_process || event.name.starts_with("thread_"))
    notes_->namings.push_back(std::move(naming));
}

void EventParser::AddDetails(const Event& event, int32_t slice) {
  const Args& args = event.args;
  told_.clear();
  if (args.has_work && last_category_ < categories_.size() &&
      categories_[last_category_].track_kind == kStream)
    AddWork(args, slice);
  if (args.has_op) AddOp(args, slice);
  if (args.has_collective) AddCollective(args, slice);
  if (!args.concrete.empty() && !args.shapes.empty()) AddOpArgs(args, slice);
  if (args.has_stage) AddStageOp(args, slice);
  if (args.record_function != kNone64 && event.category == "cpu_op") AddRecord(event);
  if (args.has_stamps) AddStamp(event, slice);
  AddRest(event, slice);
}

template <typename Row>
void EventParser::NoteTold(Row& row) {
  if (!keeps_args_) return;
  timeline::VisitColumns(row, [&](std::string_view key, const auto& value) {
    if (!IsNull(value)) told_.push_back(key);
  });
}

void EventParser::AddRest(const Event& event, int32_t slice) {
  if (!keeps_args_) return;
  if (event.args.correlation != kNone64) told_.push_back(timeline::kCorrelationKey);
  // Those of begins and of asynchronous events have no column.
  const bool has_column = std::string_view("XiIR").find(event.phase) != std::string_view::npos;
  if (event.args.external_id != kNone64 && has_column) told_.push_back(timeline::kExternalIdKey);
  const std::string_view rest = rest_.Collect(event.raw_args, told_);
  if (rest.empty()) return;
  auto row = writer_.NewRow<TimelineArgsRow>();
  row.slice = slice;
  row.args = writer_.Intern(rest);
  writer_.part().tables.Edit<TimelineArgsTable>().Add(row);
}

void EventParser::AddWork(const Args& args, int32_t slice) {
  auto row = writer_.NewRow<TimelineDeviceWorkRow>();
  row.slice = slice;
  row.device = Narrow(args.device);
  row.stream = args.stream;
  row.context = args.context;
  row.bytes = args.bytes;
  row.blocks = ProductOf(args.grid);
  row.threads = Narrow(ProductOf(args.block));
  row.registers = Narrow(args.registers);
  row.shared_bytes = args.shared_bytes;
  row.occupancy_pct = args.occupancy_pct;
  row.graph = args.graph == 0 ? kNone64 : args.graph;
  row.graph_node = args.graph_node == 0 ? kNone64 : args.graph_node;
  row.wait_stream = args.wait_stream;
  row.wait_correlation = args.wait_correlation;
  NoteTold(row);
  writer_.part().tables.Edit<TimelineDeviceWorkTable>().Add(row);
}

void EventParser::AddOp(const Args& args, int32_t slice) {
  auto row = writer_.NewRow<TimelineOpRow>();
  row.slice = slice;
  row.shapes = InternIfAny(writer_, args.shapes);
  row.dtypes = InternIfAny(writer_, args.dtypes);
  row.sequence = args.sequence;
  row.forward_thread = args.forward_thread;
  row.kernel_file = InternIfAny(writer_, args.kernel_file);
  row.kernel_hash = InternIfAny(writer_, args.kernel_hash);
  row.module = InternIfAny(writer_, args.module);
  NoteTold(row);
  writer_.part().tables.Edit<TimelineOpTable>().Add(row);
}

void EventParser::AddCollective(const Args& args, int32_t slice) {
  auto row = writer_.NewRow<TimelineCollectiveRow>();
  row.slice = slice;
  row.op = InternIfAny(writer_, args.collective);
  row.group_name = InternIfAny(writer_, args.group_name);
  row.group_desc = InternIfAny(writer_, args.group_desc);
  // A long list is cut by the profiler ("[0, 1, ..., 511]"): then it is not known.
  if (!args.group_ranks.empty() && args.group_ranks.find("...") == std::string_view::npos) {
    std::vector<int64_t> members = NumbersIn(args.group_ranks);
    std::sort(members.begin(), members.end());
    row.members = writer_.part().pools.lists.Intern(members);
  }
  row.group_size = Narrow(args.group_size);
  row.dtype = InternIfAny(writer_, args.dtype);
  row.in_elements = args.in_elements;
  row.out_elements = args.out_elements;
  row.in_split = InternIfAny(writer_, args.in_split);
  row.out_split = InternIfAny(writer_, args.out_split);
  row.peer = Narrow(args.peer);
  row.seq = args.seq;
  row.comms_id = InternIfAny(writer_, args.comms_id);
  NoteTold(row);
  writer_.part().tables.Edit<TimelineCollectiveTable>().Add(row);
}

void EventParser::AddOpArgs(const Args& args, int32_t slice) {
  auto row = writer_.NewRow<TimelineOpArgsRow>();
  row.slice = slice;
  row.concrete = InternIfAny(writer_, args.concrete);
  row.strides = InternIfAny(writer_, args.strides);
  writer_.part().tables.Edit<TimelineOpArgsTable>().Add(row);
}

void EventParser::AddRecord(const Event& event) {
  auto row = writer_.NewRow<TimelineRecordRow>();
  row.record_function = event.args.record_function;
  row.name = writer_.Intern(event.name);
  writer_.part().tables.Edit<TimelineRecordTable>().Add(row);
}

void EventParser::AddStageOp(const Args& args, int32_t slice) {
  if (args.step == kNone64 || args.op_seq == kNone64) return;
  auto row = writer_.NewRow<TimelineStageOpRow>();
  row.slice = slice;
  row.step = args.step;
  row.chunk = Narrow(args.chunk);
  row.microbatch = Narrow(args.microbatch);
  row.seq = args.op_seq;
  writer_.part().tables.Edit<TimelineStageOpTable>().Add(row);
}

void EventParser::AddStamp(const Event& event, int32_t slice) {
  const Args& args = event.args;
  if (std::find(args.stamps.begin(), args.stamps.end(), kNone64) != args.stamps.end())
    return Report(kBadStamps, event, event.name);
  auto row = writer_.NewRow<AccelStampRow>();
  row.slice = slice;
  row.ts1 = args.stamps[0];
  row.ts2 = args.stamps[1];
  row.ts3 = args.stamps[2];
  row.ts4 = args.stamps[3];
  row.ts5 = args.stamps[4];
  row.power = args.power;
  row.bytes = args.memory_bytes != kNone64 ? args.memory_bytes : args.bytes;
  row.coll_group = InternIfAny(writer_, args.coll_group);
  row.transfer_type = InternIfAny(writer_, args.transfer_type);
  if (!args.peers.empty()) row.peers = writer_.part().pools.lists.Intern(NumbersIn(args.peers));
  writer_.part().tables.Edit<AccelStampTable>().Add(row);
}

void EventParser::Report(const DiagnosticKind& kind, const Event&, std::string_view detail) {
  writer_.part().diagnostics.Add(
      kind, who_.input,
      {.offset = static_cast<int64_t>(event_offset_), .detail = std::string(detail)});
}

}  // namespace debrief::trace_events
