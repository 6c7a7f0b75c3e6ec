// cudaLaunchKernel_ptsz_v7000 -> cudaLaunchKernel: Nsight Systems shows functions with their
// versions.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text/strings.h"

namespace debrief::inputs::nsys {

inline std::string_view WithoutVersion(std::string_view call) {
  const size_t mark = call.rfind("_v");
  if (mark != std::string_view::npos && mark + 2 < call.size() &&
      std::ranges::all_of(call.substr(mark + 2), IsDigit))
    call = call.substr(0, mark);
  for (std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (call.ends_with(suffix)) call.remove_suffix(suffix.size());
  }
  return call;
}

}  // namespace debrief::inputs::nsys
