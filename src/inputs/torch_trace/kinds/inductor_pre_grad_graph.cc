// {"inductor_pre_grad_graph": {}}: the graph before Inductor's first passes; the payload is its
// text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::inductor_pre_grad_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "inductor_pre_grad_graph",
                             .sentence = "the graph before Inductor's first passes",
                             .order = 8,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::inductor_pre_grad_graph
