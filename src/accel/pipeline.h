// The passes in their order, and a run through those that options and profile ask for.
#pragma once

#include <span>
#include <string_view>

#include "accel/profile.h"
#include "accel/run.h"
#include "base/status.h"

namespace debrief::accel {

// A pass changes the whole list of events. acelyzer feeds events one by one and drains its stages
// at the end; a pass that first makes the outputs of every event in order and then what is left
// gives the same list. Its barriers are therefore nothing here.
struct Pass {
  std::string_view identifier;
  // Whether the options ask for it; a profile can only switch off.
  bool (*is_wanted)(const Options& options);
  // Null: a barrier, or what ingestion has done already.
  void (*run)(EventList& events, Run& run);
  // With --compat; null: the same.
  void (*reference)(EventList& events, Run& run) = nullptr;
};

// All passes, in the order of registration.
std::span<const Pass> AllPasses();

// Those that options and profile ask for, one after the other. With -I the list is written after
// each.
Status RunPasses(EventList& events, const Profile& profile, Run& run);

}  // namespace debrief::accel
