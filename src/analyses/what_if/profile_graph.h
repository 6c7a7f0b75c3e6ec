// The profiles of all ranks of a job as one graph of moments: when a call of the host begins and
// ends, when work on a device begins and ends, when the last member has come to a collective.
//
//   host     |call|--------|call|----------|wait for device        |---
//   device         \->|gemm|->|nccl  (meets the other ranks).......|
//
// A moment comes after those it waits for by its `own` time: what the host does between calls, how
// long a kernel computes, what a collective moves once all are there. Moments wait for
//   the begin of a call    the last call that ended before it, on any thread that launches work
//   the end of a call      its begin; of one that waits for the device: the work that ended in it
//   the begin of work      its launch; the work before it on its stream; and where the host made
//                          the stream wait for others, the work there that ended last
//   the end of work        its begin; of a collective: the meeting of all members' begins
// With their own times unchanged the moments are the recorded ones; that is checked.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/stats/intervals.h"
#include "model/timeline/view.h"

namespace debrief::analyses::what_if {

enum class Moment : uint8_t {
  kMark,       // begin or end of a step
  kHost,       // a call begins
  kCall,       // a call ends
  kWorkBegin,  // work begins on a device
  kWork,       // work ends
  kMeeting,    // all members of a collective have begun it
  kTransfer,   // a collective ends
};

inline constexpr uint32_t kNoMoment = UINT32_MAX;

// From the clock of one recording to that of the job, and back.
struct LaneClock {
  int64_t offset_ns = 0, middle_ns = 0;
  double drift = 0;  // seconds a second

  int64_t ToCommon(int64_t time) const {
    return time + offset_ns + std::llround(static_cast<double>(time - middle_ns) * drift);
  }
  int64_t FromCommon(int64_t time) const {
    const auto since = static_cast<double>(time - offset_ns - middle_ns);
    return time - offset_ns - std::llround(since * drift / (1 + drift));
  }
};

// One profile.
struct ProfileLane {
  int32_t rank = kNone32;
  int32_t input = kNone32;
  LaneClock clock;
  std::vector<uint32_t> step_begins;           // moments, by step
  IntervalSet loading, compiling, allocating;  // times in which the host does so
};

struct ProfileGraph {
  std::vector<ProfileLane> lanes;  // in the order of the views that it was built from
  std::vector<int64_t> steps;      // labels of those that all lanes have

  // By moment.
  std::vector<int64_t> time_ns;  // on the common clock
  std::vector<Moment> kinds;
  std::vector<uint32_t> lane_of;
  std::vector<int32_t> step_of;   // place in `steps`; -1: in none
  std::vector<uint64_t> place;    // the same for the same moment of all lanes and steps
  std::vector<int64_t> own_ns;    // after what it waits for
  std::vector<int32_t> slice;     // the call or the work; kNone32 of marks, meetings
  std::vector<bool> is_backward;  // of kWork: launched by the backward pass
  std::vector<uint32_t> match;    // of kTransfer: row of profile_collective_match
  std::vector<uint32_t> first_wait, waits_for;  // by moment: where its waits begin, and they
  std::vector<uint32_t> order;                  // so that all come behind what they wait for

  int64_t unmatched = 0;  // collectives whose other members are not there
  std::string why_not;    // why it cannot be replayed

  size_t size() const { return time_ns.size(); }
};

// The timelines of one attempt of one job.
ProfileGraph BuildProfileGraph(const Model& model,
                               const std::vector<timeline::TimelineView>& views);

// Whether calls of hosts that wait for their device do so.
enum class Syncs : uint8_t { kWait, kPass };

// When each moment would be with these own times.
std::vector<double> ReplayMoments(const ProfileGraph& graph, const std::vector<double>& own_ns,
                                  Syncs syncs = Syncs::kWait);

}  // namespace debrief::analyses::what_if
