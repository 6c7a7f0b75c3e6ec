#include "inputs/recording/row_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>

#include "debrief/op_trace.hpp"
#include "inputs/recording/diagnostics.h"
#include "model/timeline/kinds.h"
#include "tables/recorded_op.h"
#include "tables/timeline_counter.h"
#include "tables/timeline_flow.h"
#include "tables/timeline_op.h"

namespace debrief::inputs::recording {

namespace {

constexpr std::string_view kOpCategory = "cpu_op";  // as Kineto has it, for whoever reads exports
constexpr std::string_view kSpanCategory = "user_annotation";
constexpr std::string_view kCounterSeries = "value";

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
                   static_cast<op_trace::Dtype>(shapes.dtype), op_trace::Corners::kRight);
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
  if (record.type == RecordType::kLoss) {
    losses_.push_back({values[0], values[1], values[2], static_cast<uint32_t>(values[3])});
  } else if (record.type == RecordType::kInstant || record.type == RecordType::kCounter ||
             record.type == RecordType::kFlow) {
    moments_.push_back({record.type, record.flags, record.name, record.track, record.tid, values[0],
                        values.size() > 1 ? values[1] : 0});
    uint64_t& last = last_of_thread_[record.tid];
    last = std::max(last, values[0]);
  }
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
  pid_ = fmt::format("{}", recording.header.pid);
  AddProcess();
  // Ops are numbered by their begin, an enclosing one before what it encloses.
  std::stable_sort(spans_.begin(), spans_.end(), [](const KeptSpan& a, const KeptSpan& b) {
    return std::tuple(a.start, b.end, a.tid) < std::tuple(b.start, a.end, b.tid);
  });
  for (size_t i = 0; i < spans_.size(); ++i) AddSpan(spans_[i], static_cast<int64_t>(i));
  for (const KeptMoment& moment : moments_) AddMoment(moment);
  MarkOpenThreads();
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

void RowBuilder::AddSpan(const KeptSpan& span, int64_t number) {
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = ThreadTrack(span.tid);
  row.start_ns = TimeOf(span.start);
  row.duration_ns = TimeOf(span.end) - row.start_ns;
  row.name = NameOf(span.name);
  row.category = writer_.Intern(span.is_op ? kOpCategory : kSpanCategory);
  row.kind = writer_.Intern(span.is_op ? timeline::kOp : timeline::kAnnotation);
  row.external_id = number + 1;
  AddOpRows(span, number, writer_.AddSlice(row), row.start_ns, row.duration_ns);
}

void RowBuilder::AddOpRows(const KeptSpan& span, int64_t number, int32_t slice, int64_t start,
                           int64_t duration) {
  if (span.is_op) {
    auto op = writer_.NewRow<TimelineOpRow>();
    op.slice = slice;
    op.shapes = span.shapes;
    part_.tables.Edit<TimelineOpTable>().Add(op);
  }
  auto row = writer_.NewRow<RecordedOpRow>();
  row.step = number;
  row.operation = NameOf(span.name);
  if (span.device != 0) row.device = NameOf(span.device);
  row.input_shapes = span.shapes;
  row.output_shape = span.output;
  row.duration_ns = duration;
  row.output_elements = span.elements;
  row.memory_bytes = span.bytes;
  row.kind = writer_.Intern(span.is_op ? "op" : "span");
  row.start_ns = start + base_ns_;
  row.self_ns = duration;  // until the nesting is known
  row.thread = span.tid;
  const std::string_view dtype = DtypeName(static_cast<op_trace::Dtype>(span.dtype));
  if (!dtype.empty()) row.dtype = writer_.Intern(dtype);
  row.bytes_assumed = span.bytes_assumed;
  row.open = span.is_open;
  part_.tables.Edit<RecordedOpTable>().Add(row);
}

void RowBuilder::AddMoment(const KeptMoment& moment) {
  const int64_t time = TimeOf(moment.ticks);
  if (moment.type == recorder::RecordType::kCounter) {
    const std::string name(part_.pools.Text(NameOf(moment.name)));
    auto row = writer_.NewRow<TimelineCounterRow>();
    row.track = writer_.Track(pid_, name, timeline::kCounter);
    writer_.tracks().name[static_cast<size_t>(row.track)] = NameOf(moment.name);
    row.time_ns = time;
    row.series = moment.device != 0 ? NameOf(moment.device) : writer_.Intern(kCounterSeries);
    row.number = std::bit_cast<double>(moment.value);
    return part_.tables.Edit<TimelineCounterTable>().Add(row);
  }
  if (moment.type == recorder::RecordType::kFlow) {
    auto row = writer_.NewRow<TimelineFlowRow>();
    row.track = ThreadTrack(moment.tid);
    row.time_ns = time;
    row.name = NameOf(moment.name);
    row.id = static_cast<int64_t>(moment.value);
    row.phase = writer_.Intern(PhaseOf(moment.flags));
    return part_.tables.Edit<TimelineFlowTable>().Add(row);
  }
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = ThreadTrack(moment.tid);
  row.start_ns = time;
  row.duration_ns = 0;
  row.name = NameOf(moment.name);
  row.kind = writer_.Intern(timeline::kInstant);
  writer_.AddSlice(row);
}

// A mark where the recording ends inside of a span: exports have no other place to say so.
void RowBuilder::MarkOpenThreads() {
  std::map<uint32_t, const KeptSpan*> innermost;
  for (const KeptSpan& span : spans_) {
    if (span.is_open) innermost[span.tid] = &span;
  }
  for (const auto& [tid, span] : innermost) {
    auto row = writer_.NewRow<TimelineSliceRow>();
    row.track = ThreadTrack(tid);
    row.start_ns = TimeOf(span->end);
    row.duration_ns = 0;
    row.name = writer_.Intern(
        fmt::format("recording ends inside {}", part_.pools.Text(NameOf(span->name))));
    row.kind = writer_.Intern(timeline::kInstant);
    writer_.AddSlice(row);
  }
}

}  // namespace debrief::inputs::recording
