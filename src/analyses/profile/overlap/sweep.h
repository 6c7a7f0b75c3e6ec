// Walks over the begins and ends of several kinds of work in order of time and adds up how long
// each set of kinds ran at once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/stats/intervals.h"

namespace debrief::analyses::profile_overlap {

// Bit k of a key stands for kinds[k]; time in which none runs has no key. Intervals of one kind do
// not overlap. Those that end before they begin count as HTA counts them: their end takes the bit
// away before their begin gives it back.
std::map<int64_t, int64_t> TimeOfSets(const std::vector<std::vector<Interval>>& kinds);

}  // namespace debrief::analyses::profile_overlap
