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

// Packs dims three to a word. The word is put together in a register: in memory each dim would wait
// for the last.
class NarrowWriter {
 public:
  explicit NarrowWriter(uint64_t* words) : words_(words) {}
  void Write(const dbr_shape& shape) {
    for (uint32_t i = 0; i < shape.rank; ++i) {
      bits_ |= shape.dims[i];
      word_ |= shape.dims[i] << shift_;
      shift_ += 21;
      if (shift_ == 63) Finish();
    }
  }
  void Finish() {
    if (shift_ != 0) *words_++ = word_;
    word_ = 0;
    shift_ = 0;
  }
  uint64_t* end() const { return words_; }
  bool all_small() const { return bits_ < kSmallDim; }

 private:
  uint64_t* words_;
  uint64_t word_ = 0;
  uint64_t bits_ = 0;
  unsigned shift_ = 0;
};

// For what does not fit the short form, or the rest of a chunk.
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
