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
  unsigned words;  // descriptor, bytes, ranks in the long form, and dims
};

PackedOp MeasureOp(const dbr_op_info& info);
void WriteOp(const PackedOp& packed, const dbr_op_info& info, uint64_t* words);

// Words that a record of `words` takes when it is written as several: each has at most kMaxWords.
inline unsigned RecordWords(unsigned words) {
  constexpr unsigned kMax = kMaxWords;
  if (__builtin_expect(words <= kMax, 1)) return words;
  return words + (words - kMax + kMax - 2) / (kMax - 1);
}
// Makes room for the first words of the kMore records that follow a record of more than kMaxWords.
void SplitRecord(uint64_t* record, unsigned words);

}  // namespace debrief::recorder
