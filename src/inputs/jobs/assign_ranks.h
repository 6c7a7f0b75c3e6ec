// Which rank each input is of, and by what evidence.
//
// In this order: the file's name if it says "rank3" in any form; the content; what the format puts
// into names; a folder rank_3; a local rank, once it is known which ranks its node has; a number
// that counts names from 0; the process, where another input tells its rank; what the program
// itself says ("rank 3 done").
#pragma once

#include <span>
#include <vector>

#include "inputs/found_input.h"

namespace debrief {

// Sets who.rank, local_rank, named_attempt, host and why_rank; adds a note where name and content
// disagree. Cost: n log n.
void AssignRanks(std::vector<FoundInput>& inputs);

// ---- local_ranks.cc

// Turns local ranks into global ones: what torchrun calls attempt_0/3 is rank 11 on the second node
// of eight. Also tells runs apart that one launcher folder holds one after the other.
void ResolveLocalRanks(std::vector<FoundInput>& inputs);

// The rank that the bytes of an input tell, kNone32 when they do not.
int32_t ContentRank(const FoundInput& input);

}  // namespace debrief
