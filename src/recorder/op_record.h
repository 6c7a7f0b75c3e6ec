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

// For nearly all ops, without a look at their dims: the words that they take if all are small. No
// words when the shapes do not fit the short form.
inline PackedOp MeasureNarrow(const dbr_op_info& info) {
  PackedOp packed = {info.dtype & 127, info.bytes != 0 ? kOpBytes : 0, 0, 0};
  if (__builtin_expect(info.input_count > kMaxInputs, 0)) return packed;
  const unsigned output = info.output != nullptr ? info.output->rank : kNoShape;
  packed.dims = info.output != nullptr ? output : 0;
  packed.descriptor |= uint64_t{info.input_count} << 8 | uint64_t{output & 15} << 12;
  bool fits = info.output == nullptr || output <= kMaxRank;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    const uint32_t rank = info.inputs[i].rank;
    fits &= rank <= kMaxRank;
    packed.descriptor |= uint64_t{rank & 15} << (16 + 4 * i);
    packed.dims += rank;
  }
  if (fits) packed.words = (info.bytes != 0 ? 2 : 1) + (packed.dims + 2) / 3;
  return packed;
}
// False when a dim is not small: what was written is then nothing.
bool WriteNarrow(const PackedOp& packed, const dbr_op_info& info, uint64_t* words);

// For the others.
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
