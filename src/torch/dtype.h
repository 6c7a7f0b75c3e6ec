// Types of tensor elements, by the names that PyTorch prints.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

// Bytes of an element of "BFloat16"; 0 when the type is not known.
int64_t WidthOf(std::string_view dtype);

}  // namespace debrief
