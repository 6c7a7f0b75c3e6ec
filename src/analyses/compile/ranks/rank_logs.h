// What one attempt's ranks compiled, gathered from the tables for comparing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::compile_ranks {

// Views into the pools of the model. Graphs are in the order of their names, which stands in for
// the order of directories that tlparse happens to meet.
struct RankLog {
  std::set<std::string_view> compile_ids;
  std::string caches;  // one letter for each answer: h, m, b
  std::map<std::string_view, std::vector<StringId>> schedules;     // by graph
  std::map<std::string_view, std::vector<StringId>> id_schedules;  // by compile id
  std::map<std::string_view, char> id_caches;      // by compile id: the worst answer
  std::map<std::string_view, double> runtimes_ns;  // by graph
  std::map<std::string_view, std::pair<std::string_view, std::string_view>> tensor_meta;
  std::vector<std::string_view> order;
  bool has_order = false;
};

using RankLogs = std::map<int32_t, RankLog>;                       // by rank
using Attempts = std::map<std::pair<int32_t, int32_t>, RankLogs>;  // by job and attempt

// Logs of no known rank cannot be compared and are left out. One pass over the tables.
Attempts GatherRankLogs(const Model& model);

}  // namespace debrief::analyses::compile_ranks
