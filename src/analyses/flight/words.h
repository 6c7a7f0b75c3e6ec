// Ranks, groups and operations as findings name them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

// Global ranks of positions, sorted.
std::vector<int32_t> GlobalRanks(const Index& index, const std::vector<int32_t>& positions);

// "mesh_dp [5, 7]", "group 3 of 64 ranks".
std::string GroupInWords(const Index& index, const Group& group);

// tp, dp, pp, ep, world, or "": what a group is for, from its description, else from its members.
std::string_view RoleOf(const Index& index, const Group& group);

// "all_reduce #16 of mesh_dp [5, 7]".
std::string OpInWords(const Index& index, const Unit& unit);
// Its name alone; PyTorch's own, as _reduce_scatter_base, as the incident picture has it.
std::string_view NameInWords(const Index& index, const Unit& unit);

// The line of user code that issued a unit: "train.py:52", or "" without stacks.
std::string SiteInWords(const Index& index, const Unit& unit);
// The same for the end of a sentence: " at train.py:52", or "".
std::string AtSite(const Index& index, const Unit& unit);
Frame UserFrame(const Index& index, const Unit& unit);

}  // namespace debrief::analyses::flight
