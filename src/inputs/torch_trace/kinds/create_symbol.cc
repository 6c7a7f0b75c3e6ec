// {"create_symbol": {"symbol": "s0", "val": "48", "vr": "[2, int_oo]", "source":
// "L['x'].size()[1]"}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::create_symbol {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"val", FieldType::kAnyText, &CompileShapeRow::value},
    {"vr", FieldType::kText, &CompileShapeRow::range},
    {"source", FieldType::kText, &CompileShapeRow::sources},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "create_symbol", .sentence = "a symbol for a size that may change", .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::create_symbol
