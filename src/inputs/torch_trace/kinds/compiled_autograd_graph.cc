// {"compiled_autograd_graph": {}}: the graph of compiled autograd; the payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::compiled_autograd_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "compiled_autograd_graph",
                             .sentence = "the graph of compiled autograd",
                             .order = 2,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::compiled_autograd_graph
