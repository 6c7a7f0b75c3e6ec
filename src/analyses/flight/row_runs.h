// The dumps of one attempt that are looked at, as rows of comm_op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/attempt_rows.h"
#include "model/model.h"
#include "tables/comm_op.h"

namespace debrief::analyses::flight {

// The rows of one dump.
struct RowRun {
  int32_t rank;
  int32_t input;
  size_t begin;
  size_t end;
};

struct RowRuns {
  std::vector<RowRun> runs;  // by rank, then input
  // Left out: dumps from before the recorder was reset (torchft, torchcomms). Their numbers are
  // those of another epoch.
  std::vector<RowRun> older;
};

// `own`: the rows of the attempt in comm_op.
RowRuns RunsOf(const Model& model, AttemptRows::Rows own);

// Operations that no member completes before all have joined.
bool NeedsAll(std::string_view op);

}  // namespace debrief::analyses::flight
