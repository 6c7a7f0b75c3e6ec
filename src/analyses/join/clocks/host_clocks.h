// How the clock of each rank's host relates to the clock of the run.
//
//   t(run) = t(profile) + timeline_clock.offset          ends of kernels: microseconds
//   t(dump) = t(profile) + join_clock.offset             the same collectives in both
//   t(run) = t(dump) - comm_arrival.correction + base    a watchdog's view: 100 ms
//
// The best that a rank has is taken. `base` brings the clock of the dumps to that of the profiles:
// the median over ranks that have both.
//
// Cost: linear in the inputs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::join_clocks {

using RankKey = std::tuple<int32_t, int32_t, int32_t>;  // job, attempt, rank
using JobKey = std::pair<int32_t, int32_t>;             // job, attempt
inline JobKey JobOf(const RankKey& rank) { return {std::get<0>(rank), std::get<1>(rank)}; }

struct Placed {
  int64_t offset_ns = kNone64;  // to be added; null when nothing tells
  std::string_view how;
  int64_t residual_ns = kNone64;
};

// One profile.
struct ProfileClock {
  RankKey rank;
  int32_t input = kNone32;
  bool wall = false;             // counts from 1970
  Placed placed;                 // among the profiles, then onto the run's clock
  int64_t to_dump_ns = kNone64;  // clock of the dump less its own
};

class HostClocks {
 public:
  explicit HostClocks(const Model& model);

  const std::vector<ProfileClock>& profiles() const { return profiles_; }
  // The wall clock of a rank's host: that of its dump, compile log and text. Null where profiles
  // count from elsewhere and nothing ties them to a wall clock.
  Placed HostOf(const RankKey& rank) const;

 private:
  void ReadProfiles(const Model& model);
  void ReadDumps(const Model& model);
  void PlaceHosts();
  void PlaceProfiles();

  std::vector<ProfileClock> profiles_;
  std::map<RankKey, int64_t> corrections_;  // comm_arrival: to be subtracted
  std::map<RankKey, int64_t> spreads_;
  std::map<RankKey, Placed> hosts_;
  std::set<JobKey> apart_;  // jobs whose profiles have a clock of their own
};

}  // namespace debrief::analyses::join_clocks
