// {"describe_source": {"describer_id": 0, "id": 0, "source": "L['x']"}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_tensor.h"

namespace debrief::inputs::torch_trace::kinds::describe_source {

namespace {

constexpr Field<CompileTensorRow> kFields[] = {
    {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
    {"describer_id", FieldType::kUint64, &CompileTensorRow::describer, kRequired},
    {"source", FieldType::kText, &CompileTensorRow::source, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileTensorTable, CompileTensorRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "describe_source",
                             .sentence = "the expression by which the program reaches a tensor",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::describe_source
