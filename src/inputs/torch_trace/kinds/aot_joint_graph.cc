// {"aot_joint_graph": {}}: forward and backward in one graph, before it is cut; the payload is its
// text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::aot_joint_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "aot_joint_graph",
                             .sentence = "forward and backward in one graph, before it is cut",
                             .order = 6,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::aot_joint_graph
