#include "inputs/recording/row_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
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

void RowBuilder::OnStart(const recorder::ReadRecording& read) {
  recording_ = &read;
  clock_.emplace(read);
  base_ns_ = clock_->WallNs(read.header.opened.ticks);
  words_ = {writer_.Intern("op"), writer_.Intern("span")};
}

void RowBuilder::OnSpan(const op_trace::PairedSpan& span, const recorder::OpShapes* shapes) {
  auto row = writer_.NewRow<RecordedOpRow>();
  row.start_ns = clock_->WallNs(span.start);
  row.duration_ns = clock_->WallNs(span.end) - row.start_ns;
  row.operation = NameOf(span.name);
  if (span.device != 0) row.device = NameOf(span.device);
  row.kind = shapes != nullptr ? words_.op : words_.span;
  row.thread = span.tid;
  row.open = span.ended == op_trace::SpanEnd::kOpen;
  if (shapes != nullptr) SetShapes(*shapes, span.offset, row);
  ops_.Add(row);
  ticks_.push_back({span.start, span.end});
  uint64_t& last = last_of_thread_[span.tid];
  last = std::max(last, row.open ? span.start : span.end);
}

void RowBuilder::SetShapes(const recorder::OpShapes& shapes, uint64_t offset, RecordedOpRow& row) {
  const auto type = static_cast<op_trace::Dtype>(shapes.dtype);
  if (const std::string_view dtype = DtypeName(type); !dtype.empty())
    row.dtype = writer_.Intern(dtype);
  if (shapes.left_out) {
    part_.diagnostics.Add(kShapesLeftOut, who_.input, {.offset = static_cast<int64_t>(offset)});
  } else {
    row.input_shapes = ShapesText(shapes.inputs);
    has_shapes_ |= !shapes.inputs.empty() || shapes.has_output;
  }
  const op_trace::OutputSize size = SizeOfOutput(shapes.has_output ? &shapes.output : nullptr, type,
                                                 op_trace::Behaviour::kCorrect);
  if (shapes.has_output) {
    const auto* dims = reinterpret_cast<const int64_t*>(shapes.output.data());
    row.output_shape = part_.pools.lists.Intern({dims, shapes.output.size()});
    row.output_elements = Bounded(size.elements, offset);
    row.memory_bytes = Bounded(size.bytes, offset);
    row.bytes_assumed = size.assumed;
  }
  if (shapes.bytes == 0) return;
  row.memory_bytes = Bounded(shapes.bytes, offset);
  row.bytes_assumed = false;
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

void RowBuilder::Build() {
  for (const auto& [tid, last] : last_of_thread_) end_ticks_ = std::max(end_ticks_, last);
  pid_ = fmt::format("{}", recording_->header.pid);
  AddProcess();
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const KeptStep& a, const KeptStep& b) { return a.ticks < b.ticks; });
  SortOps();
  NumberOps();
  SetSelfTimes();
  if (!ops_alone_) {
    AddSlices();
    for (const KeptMoment& moment : moments_) AddMoment(moment);
    MarkOpenThreads();
    AddSteps();
  }
  AddMemory();
}

// By their begin, an enclosing one before what it encloses.
void RowBuilder::SortOps() {
  std::vector<uint32_t> order(ops_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto& threads = std::as_const(ops_).thread;
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return std::tuple(ticks_[a].start, ticks_[b].end, threads[a]) <
           std::tuple(ticks_[b].start, ticks_[a].end, threads[b]);
  };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::stable_sort(order.begin(), order.end(), earlier);
    ops_.Gather(order);
  }
  // From here on the step of the program is all that needs ticks.
  size_t begun = 0;
  for (size_t i = 0; i < order.size() && !steps_.empty(); ++i) {
    while (begun < steps_.size() && steps_[begun].ticks <= ticks_[order[i]].start) ++begun;
    if (begun > 0) ops_.program_step[i] = static_cast<int64_t>(steps_[begun - 1].number);
  }
  ticks_ = {};
}

void RowBuilder::NumberOps() {
  for (size_t i = 0; i < ops_.size(); ++i) ops_.step[i] = static_cast<int64_t>(i);
}

// Takes from each op the time of what was recorded inside of it on the same thread, as slices nest
// (model/timeline/arrange.cc): one that ends too early encloses nothing that lasts longer.
void RowBuilder::SetSelfTimes() {
  struct OpenOp {
    int64_t end_ns;
    size_t row;
  };
  const RecordedOpTable& ops = ops_;
  std::vector<int64_t> self(ops.duration_ns.begin(), ops.duration_ns.end());
  std::unordered_map<int64_t, std::vector<OpenOp>> threads;
  for (size_t i = 0; i < ops.size(); ++i) {
    std::vector<OpenOp>& open = threads[ops.thread[i]];
    const int64_t start = ops.start_ns[i], end = start + ops.duration_ns[i];
    while (!open.empty() && open.back().end_ns <= start) open.pop_back();
    const auto outer = std::find_if(open.rbegin(), open.rend(),
                                    [&](const OpenOp& op) { return op.end_ns >= end; });
    if (outer != open.rend())
      self[outer->row] = std::max<int64_t>(self[outer->row] - ops.duration_ns[i], 0);
    while (!open.empty() && open.back().end_ns <= end) open.pop_back();
    open.push_back({end, i});
  }
  for (size_t i = 0; i < self.size(); ++i) ops_.self_ns[i] = self[i];
}

// A slice knows its op by external_id: slices are sorted once more when all are there.
void RowBuilder::AddSlices() {
  const RecordedOpTable& ops = ops_;
  part_.tables.Edit<TimelineSliceTable>().Reserve(ops.size() + moments_.size());
  const StringId op_category = writer_.Intern(kOpCategory);
  const StringId span_category = writer_.Intern(kSpanCategory);
  const StringId op_slice = writer_.Intern(timeline::kOp);
  const StringId span_slice = writer_.Intern(timeline::kAnnotation);
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool is_op = ops.kind[i] == words_.op;
    auto row = writer_.NewRow<TimelineSliceRow>();
    row.track = ThreadTrack(static_cast<uint32_t>(ops.thread[i]));
    row.start_ns = ops.start_ns[i] - base_ns_;
    row.duration_ns = ops.duration_ns[i];
    row.name = ops.operation[i];
    row.category = is_op ? op_category : span_category;
    row.kind = is_op ? op_slice : span_slice;
    row.external_id = static_cast<int64_t>(i) + 1;
    const int32_t slice = writer_.AddSlice(row);
    if (!is_op) continue;
    auto op = writer_.NewRow<TimelineOpRow>();
    op.slice = slice;
    op.shapes = ops.input_shapes[i];
    part_.tables.Edit<TimelineOpTable>().Add(op);
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

void RowBuilder::AddMoment(const KeptMoment& moment) {
  if (moment.type == recorder::RecordType::kCounter) return AddCounter(moment);
  if (moment.type == recorder::RecordType::kFlow) return AddFlow(moment);
  if (moment.type == recorder::RecordType::kNote) return AddNote(moment);
  AddInstant(moment.tid, TimeOf(moment.ticks), NameOf(moment.name));
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

void RowBuilder::AddInstant(uint32_t tid, int64_t time_ns, StringId name) {
  auto row = writer_.NewRow<TimelineSliceRow>();
  row.track = ThreadTrack(tid);
  row.start_ns = time_ns;
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
  const RecordedOpTable& ops = ops_;
  std::map<int64_t, size_t> innermost;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.open[i] != 0) innermost[ops.thread[i]] = i;
  }
  for (const auto& [tid, op] : innermost) {
    AddInstant(static_cast<uint32_t>(tid), ops.start_ns[op] + ops.duration_ns[op] - base_ns_,
               writer_.Intern(
                   fmt::format("recording ends inside {}", part_.pools.Text(ops.operation[op]))));
  }
}

}  // namespace debrief::inputs::recording
