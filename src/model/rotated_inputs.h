// Texts that logrotate put aside: "train.log.1" is the older part of "train.log".
#pragma once

#include <cstdint>
#include <map>

#include "model/model.h"

namespace debrief {

// The input that is the newest part of the same text, by the input of each older part. Parts have
// one job, attempt and rank: "out.1" of rank 1 is no part of a launcher's "out".
std::map<int32_t, int32_t> NewestParts(const Model& model);

}  // namespace debrief
