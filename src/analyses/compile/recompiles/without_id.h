// What was compiled without a compile id: programs of torch.export, graphs for AOTInductor.
//
// Their entries have no numbers. What tells them apart is
//
//   the phase that encloses all others on its thread: fullgraph_capture, compile_fx_aot
//   the stack of an entry, outwards of the frames of torch.export: the line that called it
//   metrics without an id, the next behind the begin of a phase
//
// A program that was traced without Dynamo (strict=False) has the stacks alone: how long it took
// and how it ended is not logged, unless tracing stopped inside of it. Metrics that no phase
// explains count when they tell of a failure. Cost: two passes over the entries, and a walk over
// each stack of an entry without an id.
#pragma once

#include <vector>

#include "analyses/compile/recompiles/compilations.h"

namespace debrief::analyses::compile_recompiles {

struct WithoutId {
  ProcessKey process;
  size_t stopped = kNoRow;  // entry of the graph that tracing did not get to the end of
  Compilation compilation;
};

// By process, in the order in which they began.
std::vector<WithoutId> FindWithoutId(const Model& model);

}  // namespace debrief::analyses::compile_recompiles
