// {"optimize_ddp_split_graph": {}}: the graph that DDP splits into buckets; the payload is its
// text.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::optimize_ddp_split_graph {

const Kind& Describe() {
  static const Kind kKind = {.key = "optimize_ddp_split_graph",
                             .sentence = "the graph that DDP splits into buckets",
                             .order = 1,
                             .form = "text"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::optimize_ddp_split_graph
