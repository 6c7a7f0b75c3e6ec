// Symbols for sizes, expressions of them and guards on them: rows of compile_shape.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_shape.h"

namespace debrief::inputs::torch_trace {

namespace {

// {"create_symbol": {"symbol": "s0", "val": "48", "vr": "[2, int_oo]",
//                    "source": "L['x'].size()[1]"}}
constexpr Field<CompileShapeRow> kSymbol[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"val", FieldType::kAnyText, &CompileShapeRow::value},
    {"vr", FieldType::kText, &CompileShapeRow::range},
    {"source", FieldType::kText, &CompileShapeRow::sources},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

// {"create_unbacked_symbol": {"symbol": "u0", "node_id": 7, "vr": "[-int_oo, int_oo]"}}
constexpr Field<CompileShapeRow> kUnbackedSymbol[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"node_id", FieldType::kUint64, &CompileShapeRow::node},
    {"vr", FieldType::kText, &CompileShapeRow::range},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

// {"expression_created": {"method": "add", "result": "u0 + 1", "result_id": 9,
//                         "arguments": ["u0", "1"], "argument_ids": [7]}}
constexpr Field<CompileShapeRow> kExpression[] = {
    {"method", FieldType::kText, &CompileShapeRow::method},
    {"result", FieldType::kText, &CompileShapeRow::result},
    {"result_id", FieldType::kUint64, &CompileShapeRow::node},
    {"arguments", FieldType::kTexts, &CompileShapeRow::arguments},
    {"argument_ids", FieldType::kNumbers, &CompileShapeRow::argument_nodes},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

// {"symbolic_shape_specialization": {"symbol": "s0", "sources": ["L['x'].size()[0]"],
//                                    "value": "4"}}
constexpr Field<CompileShapeRow> kSpecialization[] = {
    {"symbol", FieldType::kText, &CompileShapeRow::symbol},
    {"sources", FieldType::kTexts, &CompileShapeRow::sources},
    {"value", FieldType::kText, &CompileShapeRow::value},
    {"reason", FieldType::kText, &CompileShapeRow::reason},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

// {"missing_fake_kernel": {"op": "mylib.foo.default", "reason": "..."}}
constexpr Field<CompileShapeRow> kFakeKernel[] = {
    {"op", FieldType::kText, &CompileShapeRow::expression},
    {"reason", FieldType::kText, &CompileShapeRow::reason},
};

// {"guard_added_fast": {"expr": "Eq(s0, 4)", "stack": [...], "user_stack": [...]}}
constexpr Field<CompileShapeRow> kFastGuard[] = {
    {"expr", FieldType::kText, &CompileShapeRow::expression},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};

// {"guard_added": {"expr": "Eq(u0, 4)", "result": "True", "expr_node_id": 9, "prefix": "eval",
//                  "symbol_to_sources": {"s0": "L['x'].size()[0]"},
//                  "frame_locals": {"locals": {"x": "Tensor(...)"}, "symbols": {"u0": null}}}}
constexpr Field<CompileShapeRow> kGuard[] = {
    {"expr", FieldType::kText, &CompileShapeRow::expression},
    {"result", FieldType::kText, &CompileShapeRow::result},
    {"expr_node_id", FieldType::kUint64, &CompileShapeRow::node},
    {"symbol_to_sources", FieldType::kTextMap, &CompileShapeRow::sources},
    {"prefix", FieldType::kText, &CompileShapeRow::prefix},
    {"stack", FieldType::kStack},
    {"user_stack", FieldType::kUserStack},
};
constexpr Field<CompileShapeRow> kGuardLocals[] = {
    {"locals", FieldType::kTextMap, &CompileShapeRow::locals},
    {"symbols", FieldType::kTextMap, &CompileShapeRow::symbols},
};

Status ReadGuard(JsonValue value, Entry& entry) {
  auto row = entry.NewRow<CompileShapeRow>();
  auto others = [&](std::string_view key, JsonValue field) -> Status {
    if (key != "frame_locals" || field.IsNull()) return {};
    return ReadFields<CompileShapeRow>(field, kGuardLocals, entry, row);
  };
  TRY(ReadFields<CompileShapeRow>(value, kGuard, entry, row, others));
  entry.Add<CompileShapeTable>(row);
  return {};
}

template <const auto& kFields>
constexpr auto kRead = ReadRow<CompileShapeTable, kFields>;

constexpr Kind kShapes[] = {
    {"create_symbol", "a symbol for a size that may change", kRead<kSymbol>},
    {"create_unbacked_symbol", "a symbol whose value is not known when compiling",
     kRead<kUnbackedSymbol>},
    {"expression_created", "an expression of symbols was made from others", kRead<kExpression>},
    {"symbolic_shape_specialization", "a size that could have been symbolic became a constant",
     kRead<kSpecialization>},
    {"missing_fake_kernel", "export met an operator without a fake kernel", kRead<kFakeKernel>},
    {"mismatched_fake_kernel",
     "the fake kernel of an operator gives something else than the real one", kRead<kFakeKernel>},
    {"guard_added_fast", "a guard on shapes, cheaply logged", kRead<kFastGuard>},
    {"guard_added", "a guard on shapes, with where it comes from", ReadGuard},
    {"propagate_real_tensors_provenance",
     "export needed the real value of something that depends on data", ReadGuard},
};

}  // namespace

std::span<const Kind> ShapeKinds() { return kShapes; }

}  // namespace debrief::inputs::torch_trace
