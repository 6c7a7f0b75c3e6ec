// {"compilation_metrics_runtime": {...}}: metrics that were complete only when the compiled code
// first ran.
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/metrics_fields.h"

namespace debrief::inputs::torch_trace::kinds::compilation_metrics_runtime {

const Kind& Describe() {
  static const Kind kKind = {
      .key = "compilation_metrics_runtime",
      .sentence = "metrics that were complete only when the compiled code first ran",
      .read = ReadMetrics};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::compilation_metrics_runtime
