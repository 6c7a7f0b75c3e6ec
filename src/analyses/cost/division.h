// One timeline divided into states, moment by moment.
//
//   device     |gemm|   |ncclAllReduce...........|          |gemm|
//   last rank                          |nccl.....|
//   states     |comp|pace|wait         |transfer |host      |comp|
//
// Claims are laid over the timeline in order of precedence; each takes what those before it left.
// What nobody claims is unknown. So the segments are disjoint and cover the timeline, whatever the
// input, and every sum over them adds up.
//
// Cost: one pass over the slices and one merge for each kind of claim, but for sorting.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/stats/intervals.h"
#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/host_activity.h"
#include "model/timeline/view.h"

namespace debrief::analyses::cost {

// What a rank does at a moment, seen from what it loses. tables.def says which state has
// precedence.
enum class State : uint8_t {
  kCompute,
  kTransfer,
  kUndivided,
  kWait,  // from here on: lost
  kCompile,
  kData,
  kSync,
  kAllocation,
  kHost,
  kPace,
  kUnknown
};
inline constexpr size_t kStates = 11;
inline constexpr std::array<std::string_view, kStates> kStateNames = {
    "compute", "transfer",   "undivided", "wait", "compile", "data",
    "sync",    "allocation", "host",      "pace", "unknown"};

inline bool IsLost(State state) { return state >= State::kWait; }
inline std::string_view NameOf(State state) { return kStateNames[static_cast<size_t>(state)]; }

// Nanoseconds in each state.
struct StateTimes {
  std::array<int64_t, kStates> ns = {};

  int64_t& operator[](State state) { return ns[static_cast<size_t>(state)]; }
  int64_t operator[](State state) const { return ns[static_cast<size_t>(state)]; }
  int64_t Busy() const {
    return (*this)[State::kCompute] + (*this)[State::kTransfer] + (*this)[State::kUndivided];
  }
  int64_t Wall() const {
    int64_t sum = 0;
    for (int64_t each : ns) sum += each;
    return sum;
  }
  int64_t Lost() const { return Wall() - Busy(); }
};

// When each rank compiled, by its compile log.
//
// Where the log has events of the compiler's phases, the outermost ones; otherwise what the metrics
// of a compilation tell. Times are nanoseconds since 1970, as those of timelines with a base.
struct CompileTime {
  Interval time;
  StringId compile_id = StringId::kNone;
};

// One rank of a job; timelines and logs without a rank share one.
struct RankKey {
  int32_t job = kNone32, attempt = kNone32, rank = kNone32;
  auto operator<=>(const RankKey&) const = default;
};
inline RankKey KeyOf(const Identity& who) { return {who.job, who.attempt, who.rank}; }

class CompileTimes {
 public:
  explicit CompileTimes(const Model& model);

  std::span<const CompileTime> Of(const Identity& who) const;  // by begin

 private:
  std::map<RankKey, std::vector<CompileTime>> times_;
};

struct Segment {
  Interval time;
  State state = State::kUnknown;
  // kWait and kTransfer: row of profile_collective_wait. kCompile: id of the compilation's name, a
  // StringId; kNone64 when not known.
  int64_t row = kNone64;
};

struct Division {
  Identity who;
  bool by_device = false;
  bool from_steps = false;
  int64_t window_count = 0;
  IntervalSet windows;            // what counts: the steps, else the whole recording
  std::vector<Interval> steps;    // by time, disjoint
  std::vector<Segment> segments;  // by time
};

// Lays claims over what is left of a timeline.
class Layers {
 public:
  explicit Layers(Interval whole) : rest_(Union(std::vector<Interval>{whole})) {}

  // Claims of one precedence, in any order; where they overlap the one that began first has it.
  void Lay(std::vector<Segment> claims);

  // What is left goes to `state`; then all segments by time.
  std::vector<Segment> Finish(State state);

 private:
  IntervalSet rest_;
  std::vector<Segment> segments_;
};

// By row of profile_collective: the row of profile_collective_wait, where its waiting is known;
// kNone64 otherwise.
std::vector<int64_t> WaitRows(const Model& model);

// What all divisions share.
struct Shared {
  explicit Shared(const Model& model)
      : classes(model), host_names(model), wait_rows(WaitRows(model)), compiling(model) {}
  timeline::DeviceClasses classes;
  timeline::HostNames host_names;
  std::vector<int64_t> wait_rows;
  CompileTimes compiling;
};

// No segments when the timeline shows neither work of a device nor ops.
Division Divide(const timeline::TimelineView& view, Shared& shared);

// Time in each state within the windows.
StateTimes TimesIn(const Division& division);

// Time in each state, step by step.
std::vector<StateTimes> TimesOfSteps(const Division& division);

// Calls take(segment, nanoseconds) for the part of every segment that lies in the windows.
template <typename Take>
void ForEachInWindows(const Division& division, Take take) {
  size_t window = 0;
  for (const Segment& segment : division.segments) {
    while (window < division.windows.size() && division.windows[window].end <= segment.time.begin)
      ++window;
    for (size_t i = window;
         i < division.windows.size() && division.windows[i].begin < segment.time.end; ++i) {
      const int64_t begin = std::max(division.windows[i].begin, segment.time.begin);
      const int64_t end = std::min(division.windows[i].end, segment.time.end);
      if (begin < end) take(segment, end - begin);
    }
  }
}

}  // namespace debrief::analyses::cost
