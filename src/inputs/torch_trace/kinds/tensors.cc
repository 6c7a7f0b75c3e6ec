// Tensors that go into a compilation, their storages and where the program has them: rows of
// compile_tensor.
#include "inputs/torch_trace/fields.h"
#include "inputs/torch_trace/kind.h"
#include "tables/compile_tensor.h"

namespace debrief::inputs::torch_trace {

namespace {

// {"describe_source": {"describer_id": 0, "id": 0, "source": "L['x']"}}
constexpr Field<CompileTensorRow> kTensorSource[] = {
    {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
    {"describer_id", FieldType::kUint64, &CompileTensorRow::describer, kRequired},
    {"source", FieldType::kText, &CompileTensorRow::source, kRequired},
};

// {"describe_storage": {"id": 0, "describer_id": 0, "size": 262144}}
constexpr Field<CompileTensorRow> kStorage[] = {
    {"id", FieldType::kUint64, &CompileTensorRow::id, kRequired},
    {"describer_id", FieldType::kUint64, &CompileTensorRow::describer, kRequired},
    {"size", FieldType::kUint64, &CompileTensorRow::bytes, kRequired},
};

// {"describe_tensor": {"id": 0, "ndim": 2, "dtype": "torch.float32", "device": "...",
//                      "size": [512, 128], ...}}
constexpr Field<CompileTensorRow> kTensor[] = {
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

constexpr Kind kTensors[] = {
    {"describe_source", "the expression by which the program reaches a tensor",
     ReadRow<CompileTensorTable, kTensorSource>},
    {"describe_storage", "a storage that tensors of the compilation lie in",
     ReadRow<CompileTensorTable, kStorage>},
    {"describe_tensor", "a tensor that goes into a compilation",
     ReadRow<CompileTensorTable, kTensor>},
};

}  // namespace

std::span<const Kind> TensorKinds() { return kTensors; }

}  // namespace debrief::inputs::torch_trace
