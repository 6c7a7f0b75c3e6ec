#include "recorded_op.h"

#include <signal.h>

#include <algorithm>
#include <string_view>

Death death;

namespace {

dbr_id names[kOpKinds];

dbr_shape AsRecorded(const Shape& shape) { return {&shape.rows, shape.columns == 0 ? 1u : 2u}; }

}  // namespace

void NameOps() {
  for (int kind = 0; kind < kOpKinds; ++kind) {
    const std::string_view name = kOpNames[kind];
    names[kind] = dbr_name(name.data(), name.size());
  }
}

ModelOp::ModelOp(OpKind kind, std::initializer_list<Shape> inputs, Shape output)
    : input_count_(static_cast<uint32_t>(inputs.size())) {
  std::copy(inputs.begin(), inputs.end(), shapes_);
  shapes_[kMaxInputs] = output;
  dbr_begin(names[kind]);
  if (kind == death.kind && death.ops_before.fetch_sub(1) == 0) raise(SIGKILL);
}

ModelOp::~ModelOp() {
  dbr_shape inputs[kMaxInputs];
  std::transform(shapes_, shapes_ + input_count_, inputs, AsRecorded);
  const dbr_shape output = AsRecorded(shapes_[kMaxInputs]);
  const dbr_op_info info = {inputs, input_count_, DBR_F32, &output, 0};
  dbr_end_op(&info);
}
