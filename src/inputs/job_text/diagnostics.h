// What can be wrong with the output of a rank.
#pragma once

#include "model/diagnostics.h"

namespace debrief::inputs::job_text {

inline constexpr DiagnosticKind kTooMany = {
    "job_text.too_many", Severity::kWarning,
    "the text says more than is kept of one input; the first events are kept",
    "Print less (TORCH_LOGS), or split the text."};

}  // namespace debrief::inputs::job_text
