// Names with their numbers taken out, for tables and viewers that group by name.
#pragma once

#include <string>
#include <string_view>

namespace debrief::accel {

// The reference's: every run of digits goes, and a "_" before it; digits behind a "V" stay.
// "add_11 Cmpt Exec" becomes "add Cmpt Exec", but "max_pool2d" becomes "max_poold".
std::string WithoutDigits(std::string_view name);

// "_<digits>" and "-<digits>" become "_[N]": "add_[N] Cmpt Exec"; "max_pool2d" stays.
std::string WithPlaceholders(std::string_view name);

}  // namespace debrief::accel
