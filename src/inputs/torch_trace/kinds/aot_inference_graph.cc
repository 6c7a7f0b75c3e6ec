// {"aot_inference_graph": {}}: the graph of AOTAutograd without a backward; the payload is its
// text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::aot_inference_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "aot_inference_graph",
                             .sentence = "the graph of AOTAutograd without a backward",
                             .order = 5,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::aot_inference_graph
