// Where exceptions end. Nothing of ours throws; the standard library does when memory or threads
// run out. That costs the work at hand and not the program: what runs inside of a guard is given up
// as a whole, and its caller reports it and goes on.
#pragma once

#include <functional>

#include "base/status.h"

namespace debrief {

// Runs `work`. What it throws becomes a Status: kLimit, with a remedy.
Status Guarded(const std::function<void()>& work);

}  // namespace debrief
