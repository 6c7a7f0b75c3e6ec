// Names of the artifacts that are answers of compilation caches.
#pragma once

#include <string_view>

namespace debrief::analyses::compile_caches {

// "aotautograd_cache_hit" -> "aotautograd_cache" and "hit". False: no answer of a cache.
bool SplitName(std::string_view artifact, std::string_view& cache, std::string_view& status);

}  // namespace debrief::analyses::compile_caches
