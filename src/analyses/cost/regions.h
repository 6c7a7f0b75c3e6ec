// Compiled regions: what compiling them cost, and what they were good for. One row of cost_region
// for each compile id of a rank, from its compile log, its profile, or both.
//
//   compile log   compilation 4/1 of forward (model.py:33)     2.1 s
//   profile       Torch-Compiled Region: 4/1   x 12            kernels launched in it: 180 ms
//
// Cost: one pass over slices and launches.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyses/cost/division.h"

namespace debrief::analyses::cost {

struct Region {
  std::string_view function, file;
  int32_t line = kNone32;
  int64_t compile_ns = kNone64;
  bool again = false;
  bool in_profile = false;
  int64_t gpu_ns = 0, kernels = 0, runs = 0, region_ns = 0;
};

// Keys are ids without the attempt.
using RegionKey = std::pair<RankKey, std::string_view>;
using Regions = std::map<RegionKey, Region>;

// Time of each division's rank inside of regions, in its windows; device time launched in them.
struct RegionTime {
  int64_t region_ns = 0;
  int64_t gpu_ns = 0;
};

Regions FindRegions(const Model& model, const std::vector<Division>& divisions,
                    std::map<RankKey, RegionTime>& times);

void AddRegionRows(const Regions& regions, Part& part);

}  // namespace debrief::analyses::cost
