// Groups that are clearly slower than others of their kind.
//
// Compared are groups with the same description and size that do the same op with messages of the
// same size, from 1 MiB on: below that, latency counts and not bandwidth. A group is slow when even
// its faster quarter takes longer than the slower quarter of every other one, by half.
#pragma once

#include <vector>

#include "analyses/profile/comms/samples.h"
#include "model/finding.h"

namespace debrief::analyses::profile_comms {

// `rows`: of each kind in profile_bandwidth.
std::vector<Finding> FindSlowGroups(const Model& model, const Samples& samples,
                                    const std::map<Kind, int64_t>& rows);

}  // namespace debrief::analyses::profile_comms
