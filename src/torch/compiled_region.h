// The name that torch.compile gives to the calls of a compiled region in a profile.
#pragma once

#include <string_view>

namespace debrief {

inline constexpr std::string_view kCompiledRegion = "Torch-Compiled Region";

// "0/1" of "Torch-Compiled Region: 0/1"; empty for another name, and in versions that do not tell.
inline std::string_view CompileIdOfRegion(std::string_view name) {
  if (!name.starts_with(kCompiledRegion)) return {};
  name.remove_prefix(kCompiledRegion.size());
  if (!name.starts_with(": ")) return {};
  name.remove_prefix(2);
  return name.substr(0, name.find(' '));
}

}  // namespace debrief
