// {"aot_forward_graph": {}}: the forward graph of AOTAutograd; the payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::aot_forward_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "aot_forward_graph",
                             .sentence = "the forward graph of AOTAutograd",
                             .order = 3,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::aot_forward_graph
