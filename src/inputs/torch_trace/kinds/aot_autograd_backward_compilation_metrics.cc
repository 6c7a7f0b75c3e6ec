// {"aot_autograd_backward_compilation_metrics": {...}}: how long AOTAutograd took for a backward
// graph.
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/metrics_fields.h"

namespace debrief::inputs::torch_trace::kinds::aot_autograd_backward_compilation_metrics {

const Kind& Describe() {
  static const Kind kKind = {.key = "aot_autograd_backward_compilation_metrics",
                             .sentence = "how long AOTAutograd took for a backward graph",
                             .order = 15,
                             .form = "metrics",
                             .file = "aot_autograd_backward_compilation_metrics.html",
                             .read = ReadMetrics};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::aot_autograd_backward_compilation_metrics
