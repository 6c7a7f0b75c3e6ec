// {"symbolic_shape_specialization": {"symbol": "s0", "sources": ["L['x'].size()[0]"], "value":
// "4"}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::symbolic_shape_specialization {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"sources", FieldType::kTexts, &CompileShapeRow::sources},
    {"value", FieldType::kText, &CompileShapeRow::value},
    {"reason", FieldType::kText, &CompileShapeRow::reason},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "symbolic_shape_specialization",
                             .sentence = "a size that could have been symbolic became a constant",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::symbolic_shape_specialization
