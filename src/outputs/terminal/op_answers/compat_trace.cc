#include <algorithm>

#include "op_trace/json_text.h"
#include "op_trace/reference.h"
#include "outputs/terminal/op_answers/answers.h"
#include "tables/recorded_op.h"
#include "tables/recording_note.h"

namespace debrief::outputs::op_answers {

namespace {

std::vector<op_trace::Shape> ShapesOf(std::string_view json) {
  std::vector<op_trace::Shape> shapes;
  if (json.empty()) return shapes;
  op_trace::JsonPull pull(json);
  pull.Begin('[');
  while (pull.NextElement()) {
    op_trace::Shape& shape = shapes.emplace_back();
    pull.Begin('[');
    while (pull.NextElement()) shape.push_back(pull.Count().value_or(0));
  }
  return shapes;
}

uint64_t Told(int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); }

op_trace::Entry EntryOf(const Model& model, const RecordedOpTable& ops, size_t row) {
  op_trace::Entry entry(Told(ops.step[row]), std::string(model.pools.Text(ops.operation[row])));
  if (ops.device[row] != StringId::kNone) entry.device = model.pools.Text(ops.device[row]);
  entry.input_shapes = ShapesOf(model.pools.Text(ops.input_shapes[row]));
  op_trace::Shape output;
  for (const int64_t dim : model.pools.lists.Get(ops.output_shape[row]))
    output.push_back(Told(dim));
  // Of a recording the sizes were counted from the types; here they are counted anew.
  const bool is_recording = ops.start_ns[row] != kNone64;
  entry.WithOutputShape(std::move(output), op_trace::Dtype::kUnknown,
                        op_trace::Behaviour::kReference);
  if (!is_recording) {
    entry.output_elements = Told(ops.output_elements[row]);
    entry.memory_bytes = Told(ops.memory_bytes[row]);
  } else {
    entry.start_ns = ops.start_ns[row];
    entry.thread = Told(ops.thread[row]);
  }
  entry.duration_ns.reset();
  if (ops.duration_ns[row] != kNone64) entry.duration_ns = ops.duration_ns[row];
  return entry;
}

}  // namespace

std::vector<op_trace::Entry> CompatEntries(const Model& model) {
  const auto& ops = model.tables.Get<RecordedOpTable>();
  std::vector<op_trace::Entry> entries;
  entries.reserve(ops.size());
  for (size_t row = 0; row < ops.size(); ++row) entries.push_back(EntryOf(model, ops, row));
  // Threads are told apart within one input only.
  for (size_t first = 0; first < ops.size();) {
    size_t last = first;
    while (last < ops.size() && ops.input[last] == ops.input[first]) ++last;
    op_trace::Flatten(std::span(entries).subspan(first, last - first));
    first = last;
  }
  return entries;
}

std::map<std::string, std::string> MetadataOf(const Model& model) {
  const auto& notes = model.tables.Get<RecordingNoteTable>();
  std::map<std::string, std::string> metadata;
  for (size_t row = 0; row < notes.size(); ++row) {
    metadata.insert_or_assign(std::string(model.pools.Text(notes.key[row])),
                              std::string(model.pools.Text(notes.value[row])));
  }
  return metadata;
}

}  // namespace debrief::outputs::op_answers
