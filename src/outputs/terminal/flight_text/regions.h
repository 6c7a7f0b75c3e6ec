// Coalesced regions: several entries that were issued as one.
#pragma once

#include <utility>
#include <vector>

#include "outputs/terminal/flight_text/record.h"

namespace debrief::outputs::flight_text {

// Entries of one rank with their positions in its list.
using RegionEntries = std::vector<std::pair<size_t, const Entry*>>;

// A region as all ranks have it, in the order in which the analyzer asks them.
using Region = std::vector<std::pair<int32_t, RegionEntries>>;

// The region of `group` that begins with its first entry in `list`; empty when that entry stands
// alone.
Result<RegionEntries> FindRegion(int32_t group, const Pending& list, int32_t rank,
                                 const Context& context);

// The same region on every member, and on peers of their sends and receives.
Result<Region> GatherRegion(const Lists& lists, const Context& context, const Step& step);

// Whether all entries of the region fit; says what does not.
Result<bool> MatchRegion(const Region& region, Context& context, Step& step);

}  // namespace debrief::outputs::flight_text
