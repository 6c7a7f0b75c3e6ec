// {"propagate_real_tensors_provenance": {"expr": "Eq(u0, 4)", "result": "True", ...}}
#include "inputs/torch_trace/guard_fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::propagate_real_tensors_provenance {

const Kind& Describe() {
  static const Kind kKind = {
      .key = "propagate_real_tensors_provenance",
      .sentence = "export needed the real value of something that depends on data",
      .read = ReadGuard};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::propagate_real_tensors_provenance
