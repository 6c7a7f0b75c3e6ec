// {"guard_added": {"expr": "Eq(u0, 4)", "result": "True", "expr_node_id": 9, "prefix": "eval",
//                  "symbol_to_sources": {"s0": "L['x'].size()[0]"},
//                  "frame_locals": {"locals": {"x": "Tensor(...)"}, "symbols": {"u0": null}}}}
#include "inputs/torch_trace/guard_fields.h"

#include "inputs/torch_trace/fields.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr Field<CompileShapeRow> kGuardFields[] = {
    {"expr", FieldType::kText, &CompileShapeRow::expression},
    {"result", FieldType::kText, &CompileShapeRow::result},
    {"expr_node_id", FieldType::kUint64, &CompileShapeRow::node},
    {"symbol_to_sources", FieldType::kTextMap, &CompileShapeRow::sources},
    {"prefix", FieldType::kText, &CompileShapeRow::prefix},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

constexpr Field<CompileShapeRow> kLocals[] = {
    {"locals", FieldType::kTextMap, &CompileShapeRow::locals},
    {"symbols", FieldType::kTextMap, &CompileShapeRow::symbols},
};

}  // namespace

Status ReadGuard(JsonValue value, Entry& entry) {
  auto row = entry.NewRow<CompileShapeRow>();
  auto others = [&](std::string_view key, JsonValue field) -> Status {
    if (key != "frame_locals" || field.IsNull()) return {};
    return ReadFields<CompileShapeRow>(field, kLocals, entry, row);
  };
  TRY(ReadFields<CompileShapeRow>(value, kGuardFields, entry, row, others));
  entry.Add<CompileShapeTable>(row);
  return {};
}

}  // namespace debrief::inputs::torch_trace
