// {"inductor_post_grad_graph": {}}: the graph after Inductor's last passes; the payload is its
// text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::inductor_post_grad_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "inductor_post_grad_graph",
                             .sentence = "the graph after Inductor's last passes",
                             .order = 7,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::inductor_post_grad_graph
