// The durations of collectives, by group, op and size.
//
// A collective that several ranks show took the shortest of their durations: the others waited for
// the last to arrive. One that a single rank shows took what that rank says.
//
// Cost: linear in the collectives, but for sorting.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::profile_comms {

struct Kind {
  int32_t job, attempt;
  StringId group_name, group_desc;
  ListId members;
  int32_t group_size;
  StringId op;
  int64_t bytes;
  bool matched;  // durations are the shortest over ranks
  auto operator<=>(const Kind&) const = default;
};

struct Durations {
  std::vector<int64_t> transfer_ns;  // without waiting for the last to arrive, where ranks tell
  std::vector<int64_t> skew_ns;      // from the first arrival to the last; none of a single rank

  size_t size() const { return transfer_ns.size(); }
};
using Samples = std::map<Kind, Durations>;

Samples FindSamples(const Model& model);

// What the op has to move for each byte of the message: busbw over algbw; 0 when not known.
double BusFactor(std::string_view op, int32_t group_size);

// Groups that are clearly slower than others of their kind.
//
// Compared are groups with the same description and size that do the same op with messages of the
// same size, from 1 MiB on: below that, latency counts and not bandwidth. A group is slow when even
// its faster quarter takes longer than the slower quarter of every other one, by half.

// `rows`: of each kind in profile_bandwidth.
std::vector<Finding> FindSlowGroups(const Model& model, const Samples& samples,
                                    const std::map<Kind, int64_t>& rows);

}  // namespace debrief::analyses::profile_comms
