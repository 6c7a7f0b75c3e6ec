// What Kubernetes says of pods: `kubectl get pod -o json` or `-o yaml`, one or a list of them.
//
// Only how containers ended is read, as the lines in which `kubectl describe` tells it.
#pragma once

#include <cstdint>
#include <string_view>

#include "inputs/job_text/line_scanner.h"

namespace debrief {
class JsonOutline;
}

namespace debrief::inputs::job_text {

bool IsPodJson(const JsonOutline& json);
bool IsPodYaml(std::string_view head);

// `text` is the whole document. JSON needs the padding that a ByteView has; what is broken in it
// ends the reading.
RangeLines ReadPods(std::string_view text);

}  // namespace debrief::inputs::job_text
