// What to do about an error that names what was missing, by the words that libraries use for it.
#pragma once

#include <string_view>

namespace debrief {

// Empty for errors that say nothing but that they happened.
std::string_view RemedyOf(std::string_view error);

}  // namespace debrief
