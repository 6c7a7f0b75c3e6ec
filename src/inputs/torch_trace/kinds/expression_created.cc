// {"expression_created": {"method": "add", "result": "u0 + 1", "result_id": 9, "arguments": ["u0",
// "1"], "argument_ids": [7]}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::expression_created {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"method", FieldType::kText, &CompileShapeRow::method},
    {"result", FieldType::kText, &CompileShapeRow::result},
    {"result_id", FieldType::kUint64, &CompileShapeRow::node},
    {"arguments", FieldType::kTexts, &CompileShapeRow::arguments},
    {"argument_ids", FieldType::kNumbers, &CompileShapeRow::argument_nodes},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "expression_created",
                             .sentence = "an expression of symbols was made from others",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::expression_created
