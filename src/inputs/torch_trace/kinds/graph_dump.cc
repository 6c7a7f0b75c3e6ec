// {"graph_dump": {"name": "inductor_aot_wrapper_code"}}; the payload is its text.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::graph_dump {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  entry.row.file = entry.Intern(entry.TextOf(entry.row.name) + ".txt");
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "graph_dump",
                             .sentence = "a graph or code that was dumped under a name",
                             .order = 10,
                             .form = "text",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::graph_dump
