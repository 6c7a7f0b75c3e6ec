// The compiled things that one timeline shows, and what they cost.
//
//   Torch-Compiled Region: 0/0 [ ## Call CompiledFxGraph f... ## [ triton_poi_... (kernel_file) ] ]
//
// Cost: two passes over the slices of a timeline that has any; none keeps more than the names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::join_regions {

enum class RegionKind : uint8_t { kRegion, kGraph, kKernel };
std::string_view WordOf(RegionKind kind);

struct Region {
  RegionKind kind = RegionKind::kRegion;
  std::string_view name;  // compile id, cache key, or path; of the model
  int64_t first_ns = 0;   // when the first call began
  int64_t calls = 0;
  int64_t host_ns = 0;
  int64_t kernels = 0;
  int64_t device_ns = 0;
  // Compile id of what it launched, as what is around the launches tells; none when they differ.
  StringId launched_by = StringId::kNone;
  bool launched_by_several = false;
};

// By kind, then name.
std::vector<Region> RegionsOf(const timeline::TimelineView& view);

}  // namespace debrief::analyses::join_regions
