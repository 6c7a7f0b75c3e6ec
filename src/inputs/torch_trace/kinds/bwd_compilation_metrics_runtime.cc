// {"bwd_compilation_metrics_runtime": {...}}: metrics of a backward graph that were complete only
// when it first ran.
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/metrics_fields.h"

namespace debrief::inputs::torch_trace::kinds::bwd_compilation_metrics_runtime {

const Kind& Describe() {
  static const Kind kKind = {
      .key = "bwd_compilation_metrics_runtime",
      .sentence = "metrics of a backward graph that were complete only when it first ran",
      .read = ReadMetrics};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::bwd_compilation_metrics_runtime
