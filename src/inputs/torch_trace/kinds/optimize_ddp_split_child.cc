// {"optimize_ddp_split_child": {"name": "submod_0"}}; the payload is its graph.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::optimize_ddp_split_child {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  entry.row.file =
      entry.Intern("optimize_ddp_split_child_" + entry.TextOf(entry.row.name) + ".txt");
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "optimize_ddp_split_child",
                             .sentence = "one bucket of a graph that DDP split",
                             .order = 14,
                             .form = "text",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::optimize_ddp_split_child
