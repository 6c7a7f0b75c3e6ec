// The durations of collectives, by group, op and size.
//
// A collective that several ranks show took the shortest of their durations: the others waited. One
// that a single rank shows took what that rank says.
//
// Cost: linear in the collectives, but for sorting.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

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

using Samples = std::map<Kind, std::vector<int64_t>>;  // durations in nanoseconds

Samples FindSamples(const Model& model);

// What the op has to move for each byte of the message: busbw over algbw; 0 when not known.
double BusFactor(std::string_view op, int32_t group_size);

}  // namespace debrief::analyses::profile_comms
