// The ops of a job of pipeline stages, as a timeline of the whole job has them.
//
// A worker is one cell of replicas x stages; one rank of each is recorded. A lane is one step of
// one replica: the workers of one pipeline. Every lane has the same ops, each of them one
// (type, number, stage); a step in which that is not so is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyses/what_if/op_types.h"
#include "model/timeline/view.h"

namespace debrief::analyses::what_if {

struct StageOp {
  OpType type = OpType::kForward;
  size_t stage = 0;
  size_t number = 0;  // among the ops of this type on this stage
  int32_t chunk = 0;  // part of the model
  int32_t microbatch = kNone32;
};

struct StageJob {
  size_t replicas = 0;
  size_t stages = 0;
  std::vector<int64_t> steps;      // their numbers, in order
  std::vector<int32_t> ranks;      // by replica * stages + stage
  std::vector<StageOp> ops;        // by stage, type and number
  std::vector<int64_t> start_ns;   // by op * lanes() + lane; lane = step * replicas + replica
  std::vector<int64_t> length_ns;  // the same
  size_t steps_left_out = 0;
  std::string why_not;  // why it cannot be replayed; empty when it can

  size_t lanes() const { return steps.size() * replicas; }
  size_t At(size_t op, size_t lane) const { return op * lanes() + lane; }
  int64_t EndNs(size_t op, size_t lane) const {
    return start_ns[At(op, lane)] + length_ns[At(op, lane)];
  }
  // The ops of a type on a stage: a range of `ops`.
  struct Range {
    size_t begin = 0, count = 0;
  };
  Range Of(OpType type, size_t stage) const { return ranges[stage * kOpTypes + IndexOf(type)]; }
  std::vector<Range> ranges;
};

StageJob ReadStageJob(const timeline::TimelineView& view);

}  // namespace debrief::analyses::what_if
