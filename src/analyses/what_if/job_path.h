// The critical path of a job across its ranks: what made its steps as long as they are.
//
//   rank 0   |host|gemm--|all_reduce  waits..........|moves|
//   rank 1   |host-----------|gemm-----------------| |moves|
//   path      host of 1       gemm of 1               all_reduce
//
// It leads from the last moment of the last step back to the begin of the first one, each time to
// that of the moments waited for which came last (profile_graph.h); at a collective that is the
// last member to come, so the path runs on the rank that all others wait for. Segments follow each
// other without holes and are cut where steps end: those of a step add up to it.
//
// Cost: linear in the moments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyses/what_if/profile_graph.h"
#include "base/stats/intervals.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::what_if {

enum class PathCause : uint8_t {
  kKernel,         // work that computes
  kCopy,           // copies and fills
  kCommunication,  // a collective moves data, and nothing hides it
  kLaunch,         // calls that launch, and what passes until their work begins
  kHost,           // what the host does between such calls
  kData,           // of that: it loads data
  kCompile,        // of that: it compiles
  kUnknown,        // nothing recorded says what is waited for
};
inline constexpr size_t kPathCauses = 8;
std::string_view PathCauseName(PathCause cause);

// Why a segment could not begin earlier.
enum class PathEdge : uint8_t {
  kThread,   // what the host did before
  kLaunch,   // the call that put the work on its stream
  kStream,   // earlier work of the device
  kWait,     // a call of the host that waits for the device
  kArrival,  // the last member came to a collective
  kNone,     // not recorded
};
std::string_view PathEdgeName(PathEdge edge);

struct PathSegment {
  Interval time;        // on the clock of the job
  uint32_t moment = 0;  // that it leads to
  uint32_t lane = 0;
  PathCause cause = PathCause::kUnknown;
  PathEdge edge = PathEdge::kNone;
  uint32_t waiting = 0;  // members of a collective that wait for this rank meanwhile
  uint32_t step = 0;     // place in JobPath::steps
};

// From the end of the step before, or from its own begin where that is not recorded, until the
// last rank is done with it.
struct PathStep {
  int64_t label = 0;
  Interval time;
};

struct JobPath {
  std::vector<PathStep> steps;
  std::vector<PathSegment> segments;  // by time
};

// `views`: those that the graph was built from.
JobPath FindJobPath(const ProfileGraph& graph, const std::vector<timeline::TimelineView>& views,
                    const timeline::DeviceClasses& classes);

}  // namespace debrief::analyses::what_if
