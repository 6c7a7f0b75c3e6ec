// The compilations of all ranks of one attempt, matched by what was compiled.
//
// A compile id is a number that a rank gives: one function more at the beginning and all later ids
// of that rank are others. So compilations are matched by process life, function, file and line,
// and by how often that function was compiled before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyses/compile/rows.h"
#include "base/stats/intervals.h"
#include "model/finding.h"
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

enum class Kind : uint8_t { kExtra, kMissing, kGraph };
std::string_view KindName(Kind kind);

// A rank that differs from most, and in what.
struct Difference {
  Kind kind = Kind::kExtra;
  int32_t rank_a = kNone32;  // of the majority
  int32_t rank_b = kNone32;
  const UnitKey* unit = nullptr;
  size_t span_a = kNoRow;  // rows of compile_span; kNoRow: has none
  size_t span_b = kNoRow;
  size_t graph_a = kNoRow;  // of compile_entry, of kGraph
  size_t graph_b = kNoRow;
  std::string text;
};

// Ranks that are to blame when `have` of `all` ranks do one thing and the others do not: with three
// ranks or more the few, when they are one, or at most a quarter; of two ranks the higher, which
// means that it is not told which. Empty: ranks divide as ranks of a pipeline do, by design.
std::vector<int32_t> Few(const std::vector<int32_t>& have, const std::vector<int32_t>& all);

// Compilations that only some ranks have become rows of compile_rank_only. Returns what blames
// somebody, in the order of the units.
std::vector<Difference> CompareUnits(const Model& model, const Job& job, Part& part);

// Graphs of compilations that ranks share. Only payloads are read whose checksums differ.
std::vector<Difference> CompareGraphs(const Model& model, const Job& job, const Graphs& graphs);

// One row of compile_first_difference for each rank that differs.
void AddFirstDifferences(const Model& model, const Job& job,
                         const std::vector<Difference>& differences, Part& part);

// compile.rank_differs. Evidence points to rows of compile_first_difference, which `part` has.
void AddDifferenceFindings(const Model& model, const Job& job,
                           const std::vector<Difference>& differences, const Part& part,
                           std::vector<Finding>& findings);

// compile.rank_slow, from compile_rank_time of `part`.
void AddSlowFindings(const Part& part, std::vector<Finding>& findings);

// Rank by rank, when it compiles.
using Intervals = std::map<int32_t, IntervalSet>;

// By the outermost phases of the compiler, else by the spans of compilations.
Intervals FindIntervals(const Model& model, const Job& job);

// Adds rows of compile_rank_time and compile_overlap. One sort of the ends of the intervals and one
// sweep over them: sets of ranks are known by a hash that each end changes, and only those that are
// kept are spelled out.
void AddTimes(const Model& model, const Job& job, Part& part);

// Text of graphs without what differs from rank to rank though the graphs are the same.
//
//   0x7f3a2c   <-  #        addresses
//   cuda:3     <-  cuda:#   the rank's own device
//   /tmp/torchinductor_me/ab/cabc.py  <-  #   files of the caches
//   140234876223344  <-  #  ids of Python objects: numbers of nine digits or more
//
// Shapes, strides, constants and names stay: by them graphs differ. Cost: one pass.
void AppendNormalised(std::string_view text, std::string& out);

// "line 3: `a` here, `b` there", of two texts that differ; lines are cut to a readable length.
std::string FirstDifference(std::string_view a, std::string_view b);

}  // namespace debrief::analyses::compile_rank_compare
