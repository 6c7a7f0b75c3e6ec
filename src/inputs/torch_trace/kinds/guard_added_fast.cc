// {"guard_added_fast": {"expr": "Eq(s0, 4)", "stack": [...], "user_stack": [...]}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::guard_added_fast {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"expr", FieldType::kText, &CompileShapeRow::expression},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "guard_added_fast", .sentence = "a guard on shapes, cheaply logged", .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::guard_added_fast
