// {"describe_storage": {"id": 0, "describer_id": 0, "size": 262144}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_tensor.h"

namespace debrief::inputs::torch_trace::kinds::describe_storage {

namespace {

constexpr Field<CompileTensorRow> kFields[] = {
    {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
    {"describer_id", FieldType::kUint64, &CompileTensorRow::describer, kRequired},
    {"size", FieldType::kUint64, &CompileTensorRow::bytes, kRequired},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileTensorTable, CompileTensorRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "describe_storage",
                             .sentence = "a storage that tensors of the compilation lie in",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::describe_storage
