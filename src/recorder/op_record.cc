#include "recorder/op_record.h"

namespace debrief::recorder {
namespace {

bool FitsDescriptor(const dbr_op_info& info) {
  if (info.input_count > kMaxInputs) return false;
  bool fits = info.output == nullptr || info.output->rank <= kMaxRank;
  for (uint32_t i = 0; i < info.input_count; ++i) fits &= info.inputs[i].rank <= kMaxRank;
  return fits;
}

// Bits that any dim has: all dims are small when none has a high one.
uint64_t BitsOf(const dbr_shape& shape) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < shape.rank; ++i) bits |= shape.dims[i];
  return bits;
}

// Packs dims three to a word. The word is put together in a register: in memory each dim would wait
// for the last.
class NarrowWriter {
 public:
  explicit NarrowWriter(uint64_t* words) : words_(words) {}
  void Write(const dbr_shape& shape) {
    for (uint32_t i = 0; i < shape.rank; ++i) {
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

 private:
  uint64_t* words_;
  uint64_t word_ = 0;
  unsigned shift_ = 0;
};

class WideWriter {
 public:
  explicit WideWriter(uint64_t* words) : words_(words) {}
  void Write(const dbr_shape& shape) {
    for (uint32_t i = 0; i < shape.rank; ++i) *words_++ = shape.dims[i];
  }
  void Finish() {}

 private:
  uint64_t* words_;
};

template <typename Writer>
inline void WriteDims(const dbr_op_info& info, Writer writer) {
  for (uint32_t i = 0; i < info.input_count; ++i) writer.Write(info.inputs[i]);
  if (info.output != nullptr) writer.Write(*info.output);
  writer.Finish();
}

}  // namespace

PackedOp MeasureOp(const dbr_op_info& info) {
  PackedOp packed = {info.dtype & 127, info.bytes != 0 ? kOpBytes : 0, 0, 1};
  packed.words += info.bytes != 0 ? 1 : 0;
  if (!FitsDescriptor(info)) {
    packed.descriptor |= kShapesLeftOut | kNoShape << 12;
    return packed;
  }
  uint64_t bits = info.output != nullptr ? BitsOf(*info.output) : 0;
  packed.dims = info.output != nullptr ? info.output->rank : 0;
  packed.descriptor |= info.input_count << 8;
  packed.descriptor |= (info.output != nullptr ? info.output->rank : kNoShape) << 12;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    packed.descriptor |= uint64_t{info.inputs[i].rank} << (16 + 4 * i);
    packed.dims += info.inputs[i].rank;
    bits |= BitsOf(info.inputs[i]);
  }
  const bool wide = bits >= kSmallDim;
  if (wide) packed.flags |= kOpWideDims;
  packed.words += wide ? packed.dims : (packed.dims + 2) / 3;
  return packed;
}

void WriteOp(const PackedOp& packed, const dbr_op_info& info, uint64_t* words) {
  *words++ = packed.descriptor;
  if (info.bytes != 0) *words++ = info.bytes;
  if (packed.dims == 0) return;
  if ((packed.flags & kOpWideDims) != 0) return WriteDims(info, WideWriter(words));
  WriteDims(info, NarrowWriter(words));
}

}  // namespace debrief::recorder
