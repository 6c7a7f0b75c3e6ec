// Shapes, dtype and bytes of an op as words: a descriptor, the bytes when told, the dims three to a
// word.
#pragma once

#include "debrief/recorder.h"
#include "recorder/format.h"

namespace debrief::recorder {

struct PackedOp {
  uint64_t descriptor;
  unsigned flags;
  unsigned dims;   // of all shapes together
  unsigned words;  // descriptor, bytes and dims
};

PackedOp MeasureOp(const dbr_op_info& info);
void WriteOp(const PackedOp& packed, const dbr_op_info& info, uint64_t* words);

}  // namespace debrief::recorder
