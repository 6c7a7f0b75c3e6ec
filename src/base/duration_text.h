// Times as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace debrief {

// Three digits that count: "850 ns", "12.5 us", "412 ms", "1.30 s", "83.1 s".
std::string DurationText(int64_t ns);

}  // namespace debrief
