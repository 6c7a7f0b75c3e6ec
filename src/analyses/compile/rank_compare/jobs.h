// The compilations of all ranks of one attempt, matched by what was compiled.
//
// A compile id is a number that a rank gives: one function more at the beginning and all later ids
// of that rank are others. So compilations are matched by process life, function, file and line,
// and by how often that function was compiled before.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::compile_rank_compare {

struct UnitKey {
  int32_t life = 0;
  std::string_view function;  // views into the pools of the model
  std::string_view file;
  int32_t line = 0;
  int32_t nth = 0;

  auto operator<=>(const UnitKey&) const = default;
};

// One compilation of the program; by rank, the row of compile_span.
using Unit = std::map<int32_t, size_t>;

struct Job {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, std::vector<int32_t>> ranks_of_life;  // sorted
  std::vector<int32_t> ranks;                             // sorted
  std::map<int32_t, int64_t> last_ns;                     // by rank: until when it logged
  std::map<int32_t, std::vector<size_t>> spans;           // rows of compile_span by rank
  std::map<UnitKey, Unit> units;
};

// Attempts with two ranks or more. One pass over compile_entry and compile_span.
std::vector<Job> GatherJobs(const Model& model);

// Row of compile_span -> rows of compile_entry with graphs that say what was compiled, in the order
// of the log.
using Graphs = std::map<size_t, std::vector<size_t>>;
Graphs GatherGraphs(const Model& model);

}  // namespace debrief::analyses::compile_rank_compare
