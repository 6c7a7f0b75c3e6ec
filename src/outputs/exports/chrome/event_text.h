// Pieces of Trace Event JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief::outputs::chrome {

// Microseconds with three decimals, exactly: 1500 is 1.500.
void AppendMicros(std::string& out, int64_t ns);

// Whether `text` is a whole number of at most 63 bits as JSON has them.
bool IsNumber(std::string_view text);

// Whether `text` is a JSON list of numbers, texts and such lists; those are written as they are.
bool IsPlainList(std::string_view text);

}  // namespace debrief::outputs::chrome
