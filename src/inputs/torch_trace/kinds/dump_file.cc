// {"dump_file": {"name": "<eval_with_key>.3"}}; the payload is the file. Stacks point into it.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::dump_file {

namespace {

constexpr Field<CompileEntryRow> kFields[] = {
    {"name", FieldType::kText, &CompileEntryRow::name, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  TRY(ReadFields<CompileEntryRow>(value, kFields, entry, entry.row));
  return {};
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "dump_file",
      .sentence = "a file that exists in memory only, such as generated Python",
      .order = 19,
      .form = "dump",
      .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::dump_file
