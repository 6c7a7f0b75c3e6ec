// Questions to compilation caches, and what they say together.
#pragma once

#include <string_view>
#include <vector>

#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::compile_caches {

// Rows of compile_cache_use and compile_cache_total are in `part`.
void AddFindings(const Part& part, std::vector<Finding>& findings);

// "aotautograd_cache_hit" -> "aotautograd_cache" and "hit". False: no answer of a cache.
bool SplitName(std::string_view artifact, std::string_view& cache, std::string_view& status);

}  // namespace debrief::analyses::compile_caches
