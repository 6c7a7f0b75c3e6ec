// {"dynamo_output_graph": {"sizes": {"l_x_": [4, 64]}}}: the graph that Dynamo captured; the
// payload is its text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::dynamo_output_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "dynamo_output_graph",
                             .sentence = "the graph that Dynamo captured",
                             .order = 11,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::dynamo_output_graph
