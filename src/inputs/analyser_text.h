// What PyTorch's analyzer of Flight Recorder dumps prints of collectives that not all ranks joined,
// between the other lines of an output: the debug server does so on rank 0, torchfrtrace anywhere.
// It is about the job, whoever's output it stands in.
//
//   Not all ranks joining collective, sequence number: 38
//   internal record id: 37
//   group info: 0:default_pg
//   collective: nccl:all_reduce
//   missing ranks: {2}
//   ...
#pragma once

#include "base/bytes/source.h"
#include "model/model.h"

namespace debrief::inputs {

// Rows of fr_trace_op without a time. Costs one fast search where there are none.
Status AddAnalyserText(const Source& source, const Identity& who, Part& part);

}  // namespace debrief::inputs
