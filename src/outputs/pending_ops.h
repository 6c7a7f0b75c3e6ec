// How long an op of a Flight Recorder dump that never completed was pending: until its rank's
// watchdog gave up; without that until the last of the others' did; without any until its process
// ended, or the last of the others'; without that to the newest time of all dumps of the attempt. A
// dump is often written within milliseconds of its last entry, while the op
// went on waiting for minutes. Every view shows this age.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "model/model.h"

namespace debrief::outputs {

// When the record of an attempt ends.
struct AttemptEnd {
  int64_t dumps = kNone64;                // newest time of all dumps
  int64_t last_timeout = kNone64;         // of a watchdog
  std::map<int32_t, int64_t> timeout_of;  // by rank: the first
  int64_t last_exit = kNone64;            // of a process
  std::map<int32_t, int64_t> exit_of;     // by rank: the first
};

using AttemptEnds = std::map<std::pair<int32_t, int32_t>, AttemptEnd>;  // by job and attempt
AttemptEnds FindAttemptEnds(const Model& model);

// `op_row`: of table comm_op, an op that is not completed.
int64_t PendingEnd(const Model& model, const AttemptEnds& ends, size_t op_row);

// From when it was issued; `known` where the end is not known to be later.
int64_t PendingAge(const Model& model, const AttemptEnds& ends, size_t op_row, int64_t known);

}  // namespace debrief::outputs
