// Which rank each input is of, and by what evidence.
//
// In this order: the file's name if it says "rank3" in any form; the content; what the format puts
// into names; a folder rank_3; a local rank, once it is known which ranks its node has; a number
// that counts names from 0; the process, where another input tells its rank; what the program
// itself says ("rank 3 done"); what lies beside it in the folder of one rank; the rank that is left
// when all its siblings have told theirs.
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

// ---- counted_within.cc

// Forgets numbers of contents and names that cannot be ranks because two have the same.
void DropFalseRanks(std::vector<FoundInput>& inputs);

// Takes back ranks of names that count within a host.
void CorrectCountedWithin(std::vector<FoundInput>& inputs);

// ---- last_ranks.cc

// Ranks that nothing tells but the neighbours: files in the folder of one rank, and the only file
// of a family that does not tell its rank, when one rank is missing.
void RankByNeighbours(std::vector<FoundInput>& inputs);

// May a number in its name be its rank: outputs of ranks, and files that a process writes once.
bool MayBeNumbered(const FoundInput& input);

// The rank that the bytes of an input tell, kNone32 when they do not.
int32_t ContentRank(const FoundInput& input);

}  // namespace debrief
