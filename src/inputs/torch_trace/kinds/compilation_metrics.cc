// {"compilation_metrics": {...}}: what the compilation of a frame cost and how it ended.
#include "inputs/torch_trace/kind.h"
#include "inputs/torch_trace/metrics_fields.h"

namespace debrief::inputs::torch_trace::kinds::compilation_metrics {

const Kind& Describe() {
  static const Kind kKind = {.key = "compilation_metrics",
                             .sentence = "what the compilation of a frame cost and how it ended",
                             .order = 20,
                             .form = "metrics",
                             .file = "compilation_metrics.html",
                             .read = ReadMetrics};
  return kKind;
}

}  // namespace debrief::inputs::torch_trace::kinds::compilation_metrics
