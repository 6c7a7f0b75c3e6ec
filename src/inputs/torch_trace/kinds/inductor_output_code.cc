// {"inductor_output_code": {"filename": "/tmp/x/cabc.py"}}; the payload is the code.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::inductor_output_code {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"filename", FieldType::kText, &CompileEntryRow::detail},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "inductor_output_code",
                             .sentence = "the code that Inductor generated",
                             .order = 13,
                             .form = "code",
                             .file = "inductor_output_code.html",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::inductor_output_code
