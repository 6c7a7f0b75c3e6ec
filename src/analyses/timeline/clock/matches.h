// The collectives that several ranks show.
#pragma once

#include <cstdint>
#include <vector>

#include "analyses/timeline/clock/lanes.h"

namespace debrief::analyses::timeline_clock {

struct Presence {
  size_t node = 0;
  size_t row = 0;  // of profile_collective
};

struct Match {
  size_t group = 0;
  int64_t slot = 0;
  bool synchronises = false;
  bool on_device = false;
  std::vector<Presence> present;  // by node; two or more
};

// In order of group and slot. What disagrees about the op is left out: it cannot be compared.
std::vector<Match> FindMatches(const Model& model, const Job& job);

}  // namespace debrief::analyses::timeline_clock
