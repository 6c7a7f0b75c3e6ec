// The name that somebody probably meant: what an error message suggests.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace debrief {

// The name with the fewest changes from `word`: a letter more, less, another one, or two neighbours
// exchanged; upper and lower case are the same. Of equals the first. Empty when none is near: a
// third of the word may differ, one letter at least.
//
// Costs the product of the lengths a name; names and words of more than 100 letters are never near.
std::string_view NearestName(std::string_view word, std::span<const std::string> names);

}  // namespace debrief
