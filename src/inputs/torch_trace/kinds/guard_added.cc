// {"guard_added": {"expr": "Eq(u0, 4)", "result": "True", ...}}
#include "inputs/torch_trace/guard_fields.h"
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::guard_added {

const Kind& Describe() {
  static const Kind kKind = {.key = "guard_added",
                             .sentence = "a guard on shapes, with where it comes from",
                             .read = ReadGuard};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::guard_added
