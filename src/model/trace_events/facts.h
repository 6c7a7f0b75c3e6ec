// What a trace says about itself beside the events: devices, process groups, versions, the base of
// its times.
#pragma once

#include <cstdint>
#include <span>

#include "base/json/event_ranges.h"
#include "model/model.h"

namespace debrief::trace_events {

struct TraceFacts {
  bool is_kineto = false;
  int64_t base_ns = kNone64;
  std::string backend;
  int64_t world_size = kNone64;
  bool has_shapes = false, has_stacks = false, has_memory = false;
};

TraceFacts ReadFacts(std::span<const JsonMember> members);

// Rows of timeline_device, timeline_group and timeline_fact.
void AddFactRows(std::span<const JsonMember> members, const Identity& who, Part& part);

}  // namespace debrief::trace_events
