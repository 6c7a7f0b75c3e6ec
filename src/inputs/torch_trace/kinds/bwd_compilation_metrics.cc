// {"bwd_compilation_metrics": {...}}: what the compilation of a backward graph cost and how it
// ended.
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/metrics_fields.h"

namespace debrief::inputs::torch_trace::kinds::bwd_compilation_metrics {

const Kind& Describe() {
  static const Kind kKind = {
      .key = "bwd_compilation_metrics",
      .sentence = "what the compilation of a backward graph cost and how it ended",
      .order = 16,
      .form = "metrics",
      .file = "bwd_compilation_metrics.html",
      .read = ReadMetrics};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::bwd_compilation_metrics
