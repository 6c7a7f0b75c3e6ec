#include "inputs/recording/row_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "debrief/op_trace.hpp"
#include "inputs/recording/diagnostics.h"
#include "model/timeline/kinds.h"
#include "tables/recorded_op_note.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_memory.h"
#include "tables/timeline_op.h"

namespace debrief::inputs::recording {

namespace {

// Devices as the timeline tables number them.
struct DeviceNumber {
  int32_t type = 0;   // as PyTorch numbers types of devices
  int32_t index = 0;  // -1: the host
};

struct DeviceType {
  std::string_view name;
  int32_t number;
};

constexpr DeviceType kTypes[] = {{"cpu", 0},  {"cuda", 1}, {"gpu", 1},  {"hip", 1},
                                 {"xpu", 12}, {"mps", 13}, {"hpu", 15}, {"mtia", 19}};
constexpr int32_t kOtherType = 20;

// By the names that programs give them: "cuda:1" is 1 of type 1; what PyTorch has no name for is of
// the type it keeps for others.
DeviceNumber NumberOfDevice(std::string_view name) {
  const size_t colon = name.find(':');
  DeviceNumber device = {.type = kOtherType};
  for (const DeviceType& type : kTypes) {
    if (type.name == name.substr(0, colon)) device.type = type.number;
  }
  if (device.type == 0) return {.type = 0, .index = -1};
  if (colon != std::string_view::npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), device.index);
  return device;
}

constexpr std::string_view kOpCategory = "cpu_op";  // as Kineto has it, for whoever reads exports
constexpr std::string_view kSpanCategory = "user_annotation";
constexpr std::string_view kCounterSeries = "value";

constexpr int64_t kMostBytes = int64_t{1} << 61;

std::string_view PhaseOf(unsigned flags) {
  return flags == 0 ? timeline::kFlowStart : flags == 1 ? timeline::kFlowStep : timeline::kFlowEnd;
}

}  // namespace

void RowBuilder::OnSpan(const op_trace::PairedSpan& span, const recorder::OpShapes* shapes) {
  KeptSpan kept = {.start = span.start,
                   .end = span.end,
                   .name = span.name,
                   .device = span.device,
                   .tid = span.tid,
                   .is_op = shapes != nullptr,
                   .is_open = span.ended == op_trace::SpanEnd::kOpen,
                   .elements = kNone64,
                   .bytes = kNone64};
  if (shapes != nullptr) KeepShapes(*shapes, span.offset, kept);
  uint64_t& last = last_of_thread_[span.tid];
  last = std::max(last, kept.is_open ? span.start : span.end);
  spans_.push_back(kept);
}

void RowBuilder::KeepShapes(const recorder::OpShapes& shapes, uint64_t offset, KeptSpan& kept) {
  kept.dtype = static_cast<uint8_t>(shapes.dtype);
  if (shapes.left_out) {
    part_.diagnostics.Add(kShapesLeftOut, who_.input, {.offset = static_cast<int64_t>(offset)});
  } else {
    kept.shapes = ShapesText(shapes.inputs);
    has_shapes_ |= !shapes.inputs.empty() || shapes.has_output;
  }
  const op_trace::OutputSize size =
      SizeOfOutput(shapes.has_output ? &shapes.output : nullptr,
                   static_cast<op_trace::Dtype>(shapes.dtype), op_trace::Behaviour::kCorrect);
  if (shapes.has_output) {
    const auto* dims = reinterpret_cast<const int64_t*>(shapes.output.data());
    kept.output = part_.pools.lists.Intern({dims, shapes.output.size()});
    kept.elements = Bounded(size.elements, offset);
    kept.bytes = Bounded(size.bytes, offset);
    kept.bytes_assumed = size.assumed;
  }
  if (shapes.bytes == 0) return;
  kept.bytes = Bounded(shapes.bytes, offset);
  kept.bytes_assumed = false;
}

int64_t RowBuilder::Bounded(uint64_t number, uint64_t offset) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (number <= kMost) return static_cast<int64_t>(number);
  part_.diagnostics.Add(kTooLarge, who_.input, {.offset = static_cast<int64_t>(offset)});
  return static_cast<int64_t>(kMost);
}

StringId RowBuilder::ShapesText(const std::vector<std::vector<uint64_t>>& shapes) {
  text_.assign(1, '[');
  for (const auto& shape : shapes) {
    text_ += text_.size() > 1 ? ",[" : "[";
    for (size_t i = 0; i < shape.size(); ++i)
      fmt::format_to(std::back_inserter(text_), "{}{}", i > 0 ? "," : "", shape[i]);
    text_ += ']';
  }
  text_ += ']';
  return part_.pools.Intern(text_);
}

void RowBuilder::OnOther(const recorder::RecordView& record) {
  using recorder::RecordType;
  const auto& values = record.values;
  uint64_t& last = last_of_thread_[record.tid];
  switch (record.type) {
    case RecordType::kLoss:
      losses_.push_back({values[0], values[1], values[2], static_cast<uint32_t>(values[3])});
      return;
    case RecordType::kInstant:
    case RecordType::kCounter:
    case RecordType::kFlow:
    case RecordType::kNote:
      moments_.push_back({record.type, record.flags, record.name, record.track, record.tid,
                          values[0], values.size() > 1 ? values[1] : 0});
      break;
    case RecordType::kStep:
      steps_.push_back({values[0], values[1]});
      break;
    case RecordType::kAlloc:
    case RecordType::kFree:
      memory_.push_back({values[0], values[1], values[2], record.track, record.tid,
                         record.type == RecordType::kFree});
      break;
    default:  // of a later version
      return;
  }
  last = std::max(last, values[0]);
}

uint64_t RowBuilder::LastOf(uint32_t tid) const {
  const auto found = last_of_thread_.find(tid);
  return found == last_of_thread_.end() ? 0 : found->second;
}

void RowBuilder::Build(const recorder::ReadRecording& recording, const op_trace::TickClock& clock,
                       int64_t base_ns) {
  recording_ = &recording;
  clock_ = &clock;
  base_ns_ = base_ns;
  for (const auto& [tid, last] : last_of_thread_) end_ticks_ = std::max(end_ticks_, last);
  pid_ = fmt::format("{}", recording.header.pid);
  AddProcess();
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const KeptStep& a, const KeptStep& b) { return a.ticks < b.ticks; });
  AddSpans();
  for (const KeptMoment& moment : moments_) AddMoment(moment);
  MarkOpenThreads();
  AddSteps();
  AddMemory();
  spans_ = {};
}

// Ops are numbered by their begin, an enclosing one before what it encloses.
void RowBuilder::AddSpans() {
  std::stable_sort(spans_.begin(), spans_.end(), [](const KeptSpan& a, const KeptSpan& b) {
    return std::tuple(a.start, b.end, a.tid) < std::tuple(b.start, a.end, b.tid);
  });
  part_.tables.Edit<TimelineSliceTable>().Reserve(spans_.size() + moments_.size());
  part_.tables.Edit<TimelineOpTable>().Reserve(spans_.size());
  part_.tables.Edit<RecordedOpTable>().Reserve(spans_.size());
  words_ = {writer_.Intern(kOpCategory),   writer_.Intern(kSpanCategory),
            writer_.Intern(timeline::kOp), writer_.Intern(timeline::kAnnotation),
            writer_.Intern("op"),          writer_.Intern("span")};
  size_t begun = 0;  // steps
  for (size_t i = 0; i < spans_.size(); ++i) {
    while (begun < steps_.size() && steps_[begun].ticks <= spans_[i].start) ++begun;
    const int64_t step = begun == 0 ? kNone64 : static_cast<int64_t>(steps_[begun - 1].number);
    AddSpan(spans_[i], static_cast<int64_t>(i), step);
  }
}

void RowBuilder::AddProcess() {
  const auto process = static_cast<size_t>(writer_.Process(pid_));
  for (const auto& [pid, name] : recording_->process_names) {
    if (pid == recording_->header.pid) writer_.processes().name[process] = NameOf(name);
  }
  const recorder::FileHeader& header = recording_->header;
  const std::string_view host(header.host, strnlen(header.host, sizeof header.host));
  if (!host.empty()) writer_.processes().labels[process] = writer_.Intern(host);
}

int32_t RowBuilder::ThreadTrack(uint32_t tid) {
  const auto [found, is_new] = thread_tracks_.try_emplace(tid, 0);
  if (!is_new) return found->second;
  found->second = writer_.Track(pid_, fmt::format("{}", tid), timeline::kThread);
  for (const auto& [named, name] : recording_->thread_names) {
    if (named == tid) writer_.tracks().name[static_cast<size_t>(found->second)] = NameOf(name);
  }
  return found->second;
}

StringId RowBuilder::NameOf(uint32_t id) {
  const auto [found, is_new] = names_.try_emplace(id, StringId::kNone);
  if (!is_new) return found->second;
  const std::string* text = recording_->Text(id);
  found->second = text != nullptr && !text->empty() ? writer_.Intern(*text)
                  : id == 0                         ? writer_.Intern("(no name)")
                                                    : writer_.Intern(fmt::format("name {}", id));
  return found->second;
}

void RowBuilder::AddSpan(const KeptSpan& span, int64_t number, int64_t program_step) {
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = ThreadTrack(span.tid);
  row.start_ns = TimeOf(span.start);
  row.duration_ns = TimeOf(span.end) - row.start_ns;
  row.name = NameOf(span.name);
  row.category = span.is_op ? words_.op_category : words_.span_category;
  row.kind = span.is_op ? words_.op_slice : words_.span_slice;
  row.external_id = number + 1;
  const int32_t slice = writer_.AddSlice(row);
  if (span.is_op) {
    auto op = writer_.NewRow<TimelineOpRow>();
    op.slice = slice;
    op.shapes = span.shapes;
    part_.tables.Edit<TimelineOpTable>().Add(op);
  }
  auto op = writer_.NewRow<RecordedOpRow>();
  op.step = number;
  op.program_step = program_step;
  op.start_ns = row.start_ns + base_ns_;
  op.duration_ns = row.duration_ns;
  op.self_ns = row.duration_ns;  // until the nesting is known
  AddOpRow(span, op);
}

// `row` has its times and numbers.
void RowBuilder::AddOpRow(const KeptSpan& span, RecordedOpRow row) {
  row.operation = NameOf(span.name);
  if (span.device != 0) row.device = NameOf(span.device);
  row.input_shapes = span.shapes;
  row.output_shape = span.output;
  row.output_elements = span.elements;
  row.memory_bytes = span.bytes;
  row.kind = span.is_op ? words_.op : words_.span;
  row.thread = span.tid;
  const std::string_view dtype = DtypeName(static_cast<op_trace::Dtype>(span.dtype));
  if (!dtype.empty()) row.dtype = writer_.Intern(dtype);
  row.bytes_assumed = span.bytes_assumed;
  row.open = span.is_open;
  part_.tables.Edit<RecordedOpTable>().Add(row);
}

void RowBuilder::AddMoment(const KeptMoment& moment) {
  if (moment.type == recorder::RecordType::kCounter) return AddCounter(moment);
  if (moment.type == recorder::RecordType::kFlow) return AddFlow(moment);
  if (moment.type == recorder::RecordType::kNote) return AddNote(moment);
  AddInstant(moment.tid, moment.ticks, NameOf(moment.name));
}

void RowBuilder::AddCounter(const KeptMoment& moment) {
  const std::string name(part_.pools.Text(NameOf(moment.name)));
  auto row = writer_.NewRow<TimelineCounterRow>();
  row.track = writer_.Track(pid_, name, timeline::kCounter);
  writer_.tracks().name[static_cast<size_t>(row.track)] = NameOf(moment.name);
  row.time_ns = TimeOf(moment.ticks);
  row.series = moment.device != 0 ? NameOf(moment.device) : writer_.Intern(kCounterSeries);
  row.number = std::bit_cast<double>(moment.value);
  part_.tables.Edit<TimelineCounterTable>().Add(row);
}

void RowBuilder::AddFlow(const KeptMoment& moment) {
  auto row = writer_.NewRow<TimelineFlowRow>();
  row.track = ThreadTrack(moment.tid);
  row.time_ns = TimeOf(moment.ticks);
  row.name = NameOf(moment.name);
  row.id = static_cast<int64_t>(moment.value);
  row.phase = writer_.Intern(PhaseOf(moment.flags));
  part_.tables.Edit<TimelineFlowTable>().Add(row);
}

void RowBuilder::AddNote(const KeptMoment& moment) {
  auto row = writer_.NewRow<RecordedOpNoteRow>();
  row.thread = moment.tid;
  row.time_ns = TimeOf(moment.ticks) + base_ns_;
  row.key = NameOf(moment.name);
  row.value = moment.flags == recorder::kNoteText ? NameOf(static_cast<uint32_t>(moment.value))
              : moment.flags == recorder::kNoteF64
                  ? writer_.Intern(fmt::format("{}", std::bit_cast<double>(moment.value)))
                  : writer_.Intern(fmt::format("{}", static_cast<int64_t>(moment.value)));
  part_.tables.Edit<RecordedOpNoteTable>().Add(row);
}

void RowBuilder::AddInstant(uint32_t tid, uint64_t ticks, StringId name) {
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = ThreadTrack(tid);
  row.start_ns = TimeOf(ticks);
  row.duration_ns = 0;
  row.name = name;
  row.kind = writer_.Intern(timeline::kInstant);
  writer_.AddSlice(row);
}

// Named as the profiler names steps, for whoever looks for them. They belong to the process, not to
// a thread, and last until the next.
void RowBuilder::AddSteps() {
  for (size_t i = 0; i < steps_.size(); ++i) {
    const uint64_t end = i + 1 < steps_.size() ? steps_[i + 1].ticks : end_ticks_;
    auto row = writer_.NewRow<TimelineSliceRow>();
    row.track = writer_.Track(pid_, "steps", timeline::kAsync);
    row.start_ns = TimeOf(steps_[i].ticks);
    row.duration_ns = TimeOf(end) - row.start_ns;
    row.name = writer_.Intern(fmt::format("ProfilerStep#{}", steps_[i].number));
    row.category = writer_.Intern(kSpanCategory);
    row.kind = writer_.Intern(timeline::kAnnotation);
    writer_.AddSlice(row);
  }
}

void RowBuilder::AddMemory() {
  std::stable_sort(memory_.begin(), memory_.end(),
                   [](const KeptMemory& a, const KeptMemory& b) { return a.ticks < b.ticks; });
  std::map<uint32_t, int64_t> allocated;  // by device
  for (const KeptMemory& change : memory_) {
    const int64_t bytes = static_cast<int64_t>(std::min<uint64_t>(change.bytes, kMostBytes));
    int64_t& sum = allocated[change.device];
    // What is freed may have been allocated before the oldest record.
    sum = std::clamp<int64_t>(sum + (change.is_free ? -bytes : bytes), 0, kMostBytes);
    auto row = writer_.NewRow<TimelineMemoryRow>();
    row.track = ThreadTrack(change.tid);
    row.time_ns = TimeOf(change.ticks);
    row.address = static_cast<int64_t>(change.address);
    row.bytes = change.is_free ? -bytes : bytes;
    row.allocated_bytes = sum;
    const DeviceNumber device =
        NumberOfDevice(change.device == 0 ? "cpu" : part_.pools.Text(NameOf(change.device)));
    row.device_type = device.type;
    row.device = device.index;
    part_.tables.Edit<TimelineMemoryTable>().Add(row);
  }
}

// A mark where the recording ends inside of a span: exports have no other place to say so.
void RowBuilder::MarkOpenThreads() {
  std::map<uint32_t, const KeptSpan*> innermost;
  for (const KeptSpan& span : spans_) {
    if (span.is_open) innermost[span.tid] = &span;
  }
  for (const auto& [tid, span] : innermost) {
    AddInstant(tid, span->end,
               writer_.Intern(
                   fmt::format("recording ends inside {}", part_.pools.Text(NameOf(span->name)))));
  }
}

}  // namespace debrief::inputs::recording
