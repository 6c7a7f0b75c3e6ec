// {"subgraph_name": {...}}: which part of a split graph the next entries are about.
#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace::kinds::subgraph_name {

const Kind& Describe() {
  static const Kind kKind = {.key = "subgraph_name",
                             .sentence = "names the part of a split graph that entries are about"};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::subgraph_name
