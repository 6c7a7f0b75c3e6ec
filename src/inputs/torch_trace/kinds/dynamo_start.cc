// {"dynamo_start": {"stack": [{"line": 43, "name": "f", "filename": 1, "loc": "f(x)"}]}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::dynamo_start {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"stack", FieldType::kStack},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "dynamo_start",
                             .sentence = "a compilation begins; the stack is where it was called",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::dynamo_start
