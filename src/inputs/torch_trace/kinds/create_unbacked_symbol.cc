// {"create_unbacked_symbol": {"symbol": "u0", "node_id": 7, "vr": "[-int_oo, int_oo]"}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace::kinds::create_unbacked_symbol {

namespace {

constexpr Field<CompileShapeRow> kFields[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"node_id", FieldType::kUint64, &CompileShapeRow::node},
    {"vr", FieldType::kText, &CompileShapeRow::range},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileShapeTable, CompileShapeRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {.key = "create_unbacked_symbol",
                             .sentence = "a symbol whose value is not known when compiling",
                             .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::create_unbacked_symbol
