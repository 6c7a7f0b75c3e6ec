// The steps of collectives that flow_prepare_event_data found: sends, receives and what goes with
// them, by the id that their names carry ("[sync=...]").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

enum class StepKind : uint8_t { kSend, kMulticast, kList, kDone };

struct FlowStep {
  Event slice;          // as it was, its arguments shared with the original
  size_t position = 0;  // in the list of events
  StringId sync = StringId::kNone;
  StringId group = StringId::kNone;  // CollGroup
  StepKind kind = StepKind::kSend;
  std::vector<int64_t> peers;
};

struct FlowSteps {
  std::vector<FlowStep> steps;
};

}  // namespace debrief::accel
