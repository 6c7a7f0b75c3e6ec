// Which op of the host issued a communication kernel.
//
//   kernel --External id--------------------> record_param_comms
//   kernel --correlation--> launch --inside--> record_param_comms
//   kernel --correlation--> launch  after   -> record_param_comms, record_param_comms   (coalesced)
//
// The last is what batched sends and receives look like: the ops are recorded first, and one launch
// behind them starts a kernel for all.
//
// Cost: one pass over the slices of a timeline, and a hash of its communication kernels.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "model/timeline/view.h"

namespace debrief::analyses::timeline_collectives {

// An op on the host that carries what a collective moves.
struct Issuer {
  int32_t slice = kNone32;
  size_t row = 0;  // of timeline_collective
  bool taken = false;
};

class Issuers {
 public:
  // `kernels`: slices that communicate.
  Issuers(const timeline::TimelineView& view, const std::vector<int32_t>& kernels);

  const std::vector<Issuer>& all() const { return issuers_; }

  // Positions in all() of the ops that issued `kernel`; several when they were coalesced. Kernels
  // of one stream have to be asked for in their order; those that name an op before all others.
  std::vector<size_t> Direct(int32_t kernel);
  std::vector<size_t> Coalesced(int32_t kernel);

 private:
  void FindLaunches(const std::vector<int32_t>& kernels);
  size_t Around(int32_t slice) const;  // the issuer that encloses it, or kNoIssuer

  static constexpr size_t kNoIssuer = static_cast<size_t>(-1);
  const timeline::TimelineView& view_;
  std::vector<Issuer> issuers_;  // in order of slice
  std::unordered_map<int64_t, size_t> by_external_id_;
  std::unordered_map<int64_t, int32_t> launch_of_;  // by correlation
};

}  // namespace debrief::analyses::timeline_collectives
