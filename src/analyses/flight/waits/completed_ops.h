// Whether any member of a group has completed a collective, found out once for all who ask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "analyses/flight/index.h"

namespace debrief::analyses::flight {

class CompletedOps {
 public:
  explicit CompletedOps(const Index& index) : index_(index) {}

  bool ByAnyMember(int32_t group, int32_t seq) {
    auto [known, is_new] = by_op_.try_emplace({group, seq}, false);
    if (is_new) {
      const Group& all = index_.GroupAt(group);
      known->second = std::any_of(all.members.begin(), all.members.end(), [&](int32_t rank) {
        return index_.HasCompleted(all, seq, rank);
      });
    }
    return known->second;
  }

 private:
  const Index& index_;
  std::map<std::pair<int32_t, int32_t>, bool> by_op_;
};

}  // namespace debrief::analyses::flight
