// {"missing_fake_kernel": {"op": "mylib.foo.default", "reason": "..."}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::missing_fake_kernel {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"op", FieldType::kText, &CompileShapeRow::expression},
    {"reason", FieldType::kText, &CompileShapeRow::reason},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "missing_fake_kernel",
                             .sentence = "export met an operator without a fake kernel",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::missing_fake_kernel
