// processing_filter (-F): events of other phases go.
#include "accel/passes/passes.h"

namespace debrief::accel {

void ProcessingFilter(EventList& events, Run& run) {
  std::erase_if(events, [&](const Event& event) {
    return run.options.filter.find(event.phase) == std::string::npos;
  });
}

}  // namespace debrief::accel
