// On which lines of generated code each kernel is called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/compile/provenance/line_maps.h"

namespace debrief::analyses::compile_provenance {

// Lines without their ends; the one behind the last end is none.
std::vector<std::string_view> SplitLines(std::string_view text);

// By kernel name; a kernel that is nowhere has no entry. Null when there are absurdly many.
using KernelLines = std::map<std::string_view, std::vector<int32_t>>;
// Numbered such that the line with "# AOT ID:" is 1.
std::optional<KernelLines> FindInPython(std::string_view code, const NameMap& kernels);
std::optional<KernelLines> FindInCpp(std::string_view code, const NameMap& kernels);

// A line that declares the number of elements of a kernel and does not call it:
// "int64_t triton_0_xnumel = 3" or "auto x_xnumel_1 =".
bool DeclaresElements(std::string_view line);

}  // namespace debrief::analyses::compile_provenance
