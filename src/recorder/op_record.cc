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
inline void WriteDims(const dbr_op_info& info, Writer&& writer) {
  for (uint32_t i = 0; i < info.input_count; ++i) writer.Write(info.inputs[i]);
  if (info.output != nullptr) writer.Write(*info.output);
  writer.Finish();
}

uint32_t RankOf(const dbr_shape* shape) { return shape != nullptr ? shape->rank : 0; }

uint64_t DimsOf(const dbr_op_info& info) {
  uint64_t dims = RankOf(info.output);
  for (uint32_t i = 0; i < info.input_count; ++i) dims += info.inputs[i].rank;
  return dims;
}

bool FitsLongForm(const dbr_op_info& info) {
  if (info.input_count > kMaxLongInputs || RankOf(info.output) > kMaxLongRank) return false;
  for (uint32_t i = 0; i < info.input_count; ++i) {
    if (info.inputs[i].rank > kMaxLongRank) return false;
  }
  return true;
}

uint64_t AllBits(const dbr_op_info& info) {
  uint64_t bits = info.output != nullptr ? BitsOf(*info.output) : 0;
  for (uint32_t i = 0; i < info.input_count; ++i) bits |= BitsOf(info.inputs[i]);
  return bits;
}

PackedOp WithoutShapes(PackedOp packed) {
  packed.descriptor |= kShapesLeftOut | kNoShape << 12;
  return packed;
}

PackedOp StartOp(const dbr_op_info& info) {
  return {info.dtype & 127, info.bytes != 0 ? kOpBytes : 0, 0, info.bytes != 0 ? 2u : 1u};
}

[[gnu::noinline, gnu::cold]] PackedOp MeasureLongOp(const dbr_op_info& info) {
  PackedOp packed = StartOp(info);
  if (!FitsLongForm(info)) return WithoutShapes(packed);
  const bool wide = AllBits(info) >= kSmallDim;
  const uint64_t dims = DimsOf(info);
  const uint64_t words = (info.input_count + 3) / 4 + (wide ? dims : (dims + 2) / 3);
  if (words > kMaxOpWords - kMaxOpWords / kMaxWords - 8) return WithoutShapes(packed);
  const uint64_t rank_plus_1 = info.output != nullptr ? info.output->rank + 1 : 0;
  packed.descriptor |= kLongForm << 8 | uint64_t{info.input_count} << 16 | rank_plus_1 << 32;
  packed.flags |= wide ? kOpWideDims : 0;
  packed.dims = static_cast<unsigned>(dims);
  packed.words += static_cast<unsigned>(words);
  return packed;
}

bool IsLong(const PackedOp& packed) { return DescribedInputs(packed.descriptor) == kLongForm; }

[[gnu::noinline, gnu::cold]] uint64_t* WriteRanks(const dbr_op_info& info, uint64_t* words) {
  for (uint32_t i = 0; i < info.input_count; ++i) {
    if (i % 4 == 0) words[i / 4] = 0;
    words[i / 4] |= uint64_t{info.inputs[i].rank} << i % 4 * 16;
  }
  return words + (info.input_count + 3) / 4;
}

}  // namespace

PackedOp MeasureOp(const dbr_op_info& info) {
  if (__builtin_expect(!FitsDescriptor(info), 0)) return MeasureLongOp(info);
  PackedOp packed = StartOp(info);
  uint64_t bits = info.output != nullptr ? BitsOf(*info.output) : 0;
  packed.dims = RankOf(info.output);
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
  if (__builtin_expect(IsLong(packed), 0)) words = WriteRanks(info, words);
  if (packed.dims == 0) return;
  if ((packed.flags & kOpWideDims) != 0) return WriteDims(info, WideWriter(words));
  WriteDims(info, NarrowWriter(words));
}

// From the end, so that nothing is overwritten before it was moved.
void SplitRecord(uint64_t* record, unsigned words) {
  constexpr unsigned kPart = kMaxWords - 1;
  const unsigned more = words - static_cast<unsigned>(kMaxWords);
  for (unsigned part = (more + kPart - 1) / kPart; part-- != 0;) {
    const unsigned from = static_cast<unsigned>(kMaxWords) + part * kPart;
    const unsigned count = words - from < kPart ? words - from : kPart;
    uint64_t* to = record + from + part;
    __builtin_memmove(to + 1, record + from, count * 8);
    *to = FirstWord(RecordType::kMore, 0, count + 1, 0, 0);
  }
}

}  // namespace debrief::recorder
