// The passes in their order, and a run through those that options and profile ask for.
#pragma once

#include <span>

#include "accel/pass.h"
#include "accel/profile.h"
#include "base/status.h"

namespace debrief::accel {

// All passes, in the order of registration.
std::span<const Pass> AllPasses();

// Those that options and profile ask for, one after the other. With -I the list is written after
// each.
Status RunPasses(EventList& events, const Profile& profile, Run& run);

}  // namespace debrief::accel
