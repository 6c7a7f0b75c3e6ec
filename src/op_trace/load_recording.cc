// A trace out of the bytes of a recording.
#include <algorithm>
#include <tuple>

#include "op_trace/reference.h"
#include "op_trace/span_pairing.h"
#include "op_trace/tick_clock.h"

namespace debrief::op_trace {
namespace {

struct KeptOp {
  PairedSpan span;
  bool is_op = false;
  recorder::OpShapes shapes;
};

class Keeper final : public SpanSink {
 public:
  void OnSpan(const PairedSpan& span, const recorder::OpShapes* shapes) override {
    ops.push_back({span, shapes != nullptr, shapes != nullptr ? *shapes : recorder::OpShapes()});
  }
  void OnOther(const recorder::RecordView&) override {}

  std::vector<KeptOp> ops;
};

void SetSizes(const KeptOp& op, Behaviour behaviour, Entry& entry) {
  const bool compat = behaviour == Behaviour::kReference;
  if (!op.shapes.inputs.empty()) entry.input_shapes = op.shapes.inputs;
  const auto dtype = static_cast<Dtype>(op.shapes.dtype);
  if (op.shapes.has_output || compat) entry.WithOutputShape(op.shapes.output, dtype, behaviour);
  entry.dtype = dtype;
  if (op.shapes.bytes == 0 || compat) return;
  entry.memory_bytes = op.shapes.bytes;
  entry.memory_assumed = false;
}

std::string NameOf(const recorder::ReadRecording& read, uint32_t id) {
  const std::string* text = read.Text(id);
  return text != nullptr ? *text : "name " + std::to_string(id);
}

std::string InWords(const recorder::ReaderProblem& problem) {
  return "something at byte " + std::to_string(problem.offset) +
         " does not fit the format; what could not be read was left out";
}

}  // namespace

Loaded LoadRecording(std::span<const std::byte> bytes, Behaviour behaviour) {
  Keeper keeper;
  SpanPairing pairing(keeper);
  const recorder::ReadRecording read = ReadDbr(bytes, pairing);
  Loaded loaded;
  for (const recorder::ReaderProblem& problem : read.problems)
    loaded.warnings.push_back(InWords(problem));
  if (!read.ok) {
    loaded.problem = "no recording, or one of another version";
    return loaded;
  }
  pairing.Finish();
  const TickClock clock(read);
  std::stable_sort(keeper.ops.begin(), keeper.ops.end(), [](const KeptOp& a, const KeptOp& b) {
    return std::tuple(a.span.start, b.span.end, a.span.tid) <
           std::tuple(b.span.start, a.span.end, b.span.tid);
  });
  std::vector<Entry> entries;
  for (const KeptOp& op : keeper.ops) {
    Entry entry(entries.size(), NameOf(read, op.span.name));
    entry.start_ns = clock.WallNs(op.span.start);
    entry.WithDuration(clock.WallNs(op.span.end) - *entry.start_ns);
    entry.thread = op.span.tid;
    entry.open = op.span.ended == SpanEnd::kOpen;
    if (op.span.device != 0) entry.device = NameOf(read, op.span.device);
    SetSizes(op, behaviour, entry);
    entries.push_back(std::move(entry));
  }
  if (behaviour == Behaviour::kReference) Flatten(entries);
  loaded.trace.emplace(behaviour);
  for (Entry& entry : entries) loaded.trace->Add(std::move(entry));
  for (const auto& [key, value] : read.metadata)
    loaded.trace->SetMetadata(NameOf(read, key), NameOf(read, value));
  return loaded;
}

}  // namespace debrief::op_trace
