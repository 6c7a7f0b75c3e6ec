#include "recorder/op_record.h"

namespace debrief::recorder {
namespace {

bool FitsDescriptor(const dbr_op_info& info) {
  if (info.input_count > kMaxInputs) return false;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    if (info.inputs[i].rank > kMaxRank) return false;
  }
  return info.output == nullptr || info.output->rank <= kMaxRank;
}

// Bits that any dim has: all dims are small when none has a high one.
uint64_t BitsOf(const dbr_shape& shape) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < shape.rank; ++i) bits |= shape.dims[i];
  return bits;
}

// Packs dims as they come; the words must be zero or are set whole.
class DimWriter {
 public:
  DimWriter(uint64_t* words, bool wide) : words_(words), wide_(wide) {}
  void Write(const dbr_shape& shape) {
    for (uint32_t i = 0; i < shape.rank; ++i) WriteDim(shape.dims[i]);
  }

 private:
  void WriteDim(uint64_t dim) {
    if (wide_) {
      *words_++ = dim;
      return;
    }
    if (shift_ == 0) *words_ = 0;
    *words_ |= dim << shift_;
    shift_ += 21;
    if (shift_ == 63) {
      shift_ = 0;
      ++words_;
    }
  }
  uint64_t* words_;
  bool wide_;
  unsigned shift_ = 0;
};

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
  DimWriter writer(words, (packed.flags & kOpWideDims) != 0);
  for (uint32_t i = 0; i < info.input_count; ++i) writer.Write(info.inputs[i]);
  if (info.output != nullptr) writer.Write(*info.output);
}

}  // namespace debrief::recorder
