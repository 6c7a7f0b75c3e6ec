// {"aot_backward_graph": {}}: the backward graph of AOTAutograd; the payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::aot_backward_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "aot_backward_graph",
                             .sentence = "the backward graph of AOTAutograd",
                             .order = 4,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::aot_backward_graph
