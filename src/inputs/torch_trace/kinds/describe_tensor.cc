// {"describe_tensor": {"id": 0, "ndim": 2, "dtype": "torch.float32", "device": "...", "size": [512,
// 128], ...}}
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_tensor.h"

namespace debrief::inputs::torch_trace::kinds::describe_tensor {

namespace {

constexpr Field<CompileTensorRow> kFields[] = {
    {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
    {"describer_id", FieldType::kUint64, &CompileTensorRow::describer, kRequired},
    {"ndim", FieldType::kUint64, &CompileTensorRow::ndim, kRequired},
    {"dtype", FieldType::kText, &CompileTensorRow::dtype, kRequired},
    {"device", FieldType::kText, &CompileTensorRow::device, kRequired},
    {"size", FieldType::kSizes, &CompileTensorRow::sizes, kRequired},
    {"stride", FieldType::kSizes, &CompileTensorRow::strides},
    {"storage", FieldType::kUint64, &CompileTensorRow::storage},
    {"is_parameter", FieldType::kBool, &CompileTensorRow::is_parameter},
    {"requires_grad", FieldType::kBool, &CompileTensorRow::requires_grad},
    {"dynamo_dynamic_indices", FieldType::kNumbers},
    {"layout", FieldType::kText},
    {"storage_offset", FieldType::kAnyText},
    {"creation_meta", FieldType::kText},
    {"is_inference", FieldType::kBool},
    {"is_leaf", FieldType::kBool},
    {"is_sparse", FieldType::kBool},
    {"is_mkldnn", FieldType::kBool},
    {"is_functorch_wrapped", FieldType::kBool},
    {"is_batchedtensor", FieldType::kBool},
    {"is_legacy_batchedtensor", FieldType::kBool},
    {"is_gradtrackingtensor", FieldType::kBool},
    {"is_view", FieldType::kBool},
    {"is_nested", FieldType::kBool},
    {"is_traceable_wrapper_subclass", FieldType::kBool},
    {"is_functional", FieldType::kBool},
    {"is_conj", FieldType::kBool},
    {"is_neg", FieldType::kBool},
    {"is_coalesced", FieldType::kBool},
    {"sparse_dim", FieldType::kUint64},
    {"dense_dim", FieldType::kUint64},
    {"crow_indices", FieldType::kUint64},
    {"col_indices", FieldType::kUint64},
    {"ccol_indices", FieldType::kUint64},
    {"row_indices", FieldType::kUint64},
    {"values", FieldType::kUint64},
    {"unwrapped", FieldType::kUint64},
    {"bdim", FieldType::kUint64},
    {"base", FieldType::kUint64},
    {"grad", FieldType::kUint64},
};

Status Read(JsonValue value, Entry& entry) {
  return ReadRow<CompileTensorTable, CompileTensorRow>(value, kFields, entry);
}

}  // namespace

const Kind& Describe() {
  static const Kind kKind = {
      .key = "describe_tensor", .sentence = "a tensor that goes into a compilation", .read = Read};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::describe_tensor
