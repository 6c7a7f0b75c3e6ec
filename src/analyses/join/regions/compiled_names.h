// What compile logs call what they generated: cache keys of graphs and files of kernels.
//
//   artifact fx_graph_cache_miss    {"key": "fxuhd...", ...}                 key   -> compilation
//   inductor_output_code            # kernel path: /tmp/.../oo/cooep....py   file  -> compilation
//
// Only payloads that can hold a name that is still looked for are read: logs of large models have
// gigabytes of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/json/cursor.h"
#include "model/model.h"
#include "tables/compile_entry.h"

namespace debrief::analyses::join_regions {

using RankKey = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank
inline RankKey KeyOf(const Identity& who) { return {who.job, who.attempt, who.rank}; }

// The name of a file without its folder and ending: Inductor names files by their content, and the
// folder is that of the machine.
std::string_view StemOf(std::string_view path);

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

}  // namespace debrief::analyses::join_regions
