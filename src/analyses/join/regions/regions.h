// The compiled things that one timeline shows, and what they cost.
//
//   Torch-Compiled Region: 0/0 [ ## Call CompiledFxGraph f... ## [ triton_poi_... (kernel_file) ] ]
//
// Cost: two passes over the slices of a timeline that has any; none keeps more than the names.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json/cursor.h"
#include "model/model.h"
#include "model/timeline/view.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::join_regions {

using RankKey = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank
inline RankKey KeyOf(const Identity& who) { return {who.job, who.attempt, who.rank}; }

// The name of a file without its folder and ending: Inductor names files by their content, and the
// folder is that of the machine.
std::string_view StemOf(std::string_view path);

// What compile logs call what they generated: cache keys of graphs and files of kernels.
//
//   artifact fx_graph_cache_miss    {"key": "fxuhd...", ...}                 key   -> compilation
//   inductor_output_code            # kernel path: /tmp/.../oo/cooep....py   file  -> compilation
//
// Only payloads that can hold a name that is still looked for are read: logs of large models have
// gigabytes of them.
class CompiledNames {
 public:
  // What is looked for: cache keys, and stems of files.
  void Want(const RankKey& rank, std::string_view name) { wanted_[rank].emplace(name); }

  // Reads the logs.
  void Find(const Model& model);

  // The compilation, without its attempt; empty when no log tells.
  std::string_view CompileIdOf(const RankKey& rank, std::string_view name) const;

 private:
  void Look(const Model& model, size_t row, std::set<std::string, std::less<>>& wanted);
  void Keep(const RankKey& rank, std::set<std::string, std::less<>>& wanted, std::string_view name,
            std::string_view compile_id);

  std::map<RankKey, std::set<std::string, std::less<>>> wanted_;
  std::map<std::pair<RankKey, std::string>, std::string> compile_ids_;
  JsonReader reader_;
};

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
