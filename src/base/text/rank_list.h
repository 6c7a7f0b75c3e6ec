// Ranks as people write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace debrief {

// Sorted numbers with runs folded: "0-3, 7, 12-15", "0-56 step 8". Empty gives "".
std::string FoldNumbers(std::span<const int32_t> sorted);

// "rank 5", "ranks 0-3 and 7"; at most a dozen pieces, then "and 90 more".
std::string RanksInWords(std::span<const int32_t> sorted);

// The same as the beginning of a sentence: "Rank 5".
std::string RanksAsSubject(std::span<const int32_t> sorted);

}  // namespace debrief
