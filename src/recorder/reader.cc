#include "recorder/reader.h"

#include <algorithm>
#include <cstring>

namespace debrief::recorder {
namespace {

// Words of an op after descriptor and bytes; 256 when the descriptor promises more than a record
// holds.
unsigned DimWords(uint64_t descriptor, unsigned flags) {
  unsigned dims = DescribedOutputRank(descriptor) == kNoShape ? 0 : DescribedOutputRank(descriptor);
  if (DescribedInputs(descriptor) > kMaxInputs) return 256;
  for (unsigned i = 0; i < DescribedInputs(descriptor); ++i) {
    const unsigned rank = DescribedInputRank(descriptor, i);
    if (rank > kMaxRank) return 256;
    dims += rank;
  }
  return (flags & kOpWideDims) != 0 ? dims : (dims + 2) / 3;
}

bool OpIsRight(std::span<const uint64_t> values, size_t times, unsigned flags) {
  const size_t fixed = times + 1 + ((flags & kOpBytes) != 0 ? 1 : 0);
  return values.size() >= fixed && values.size() == fixed + DimWords(values[times], flags);
}

// `values` are the words after the first.
bool LengthIsRight(RecordType type, unsigned flags, std::span<const uint64_t> values) {
  switch (type) {
    case RecordType::kBegin:
    case RecordType::kEnd:
    case RecordType::kInstant:
    case RecordType::kThread:
    case RecordType::kProcess:
    case RecordType::kMeta:
      return values.size() == 1;
    case RecordType::kSpan:
    case RecordType::kCounter:
    case RecordType::kFlow:
      return values.size() == 2;
    case RecordType::kLoss:
      return values.size() == 4;
    case RecordType::kOp:
      return OpIsRight(values, 2, flags);
    case RecordType::kOpEnd:
      return OpIsRight(values, 1, flags);
    case RecordType::kText:
      return !values.empty() && values[0] <= kTextPart && values.size() == 1 + (values[0] + 7) / 8;
    case RecordType::kInvalid:
      return false;
  }
  return !values.empty();  // a kind of a later version: skipped by its length
}

class SpanBytes final : public RecordingBytes {
 public:
  explicit SpanBytes(std::span<const std::byte> bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  bool Copy(uint64_t offset, std::span<std::byte> to) const override {
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
};

class Reader {
 public:
  Reader(const RecordingBytes& bytes, RecordSink& sink) : bytes_(bytes), sink_(sink) {}

  ReadRecording Read() {
    if (!ReadHeader()) return std::move(result_);
    std::vector<ChunkInfo> dictionary;
    FindChunks(dictionary);
    for (const ChunkInfo& chunk : dictionary) ReadChunk(chunk, true);
    std::sort(result_.texts.begin(), result_.texts.end(),
              [](const RecordedText& a, const RecordedText& b) { return a.id < b.id; });
    for (const ChunkInfo& chunk : result_.chunks) ReadChunk(chunk, false);
    return std::move(result_);
  }

 private:
  void Report(Problem problem, uint64_t offset) { result_.problems.push_back({problem, offset}); }

  bool Copy(uint64_t offset, void* to, size_t count) {
    if (count == 0 || bytes_.Copy(offset, {static_cast<std::byte*>(to), count})) return true;
    Report(Problem::kUnreadable, offset);
    return false;
  }

  bool ReadHeader() {
    FileHeader& header = result_.header;
    if (bytes_.size() >= kFileHeaderBytes && !Copy(0, &header, sizeof header)) return false;
    if (header.magic != kFileMagic || header.byte_order != kByteOrder) {
      Report(Problem::kNotARecording, 0);
      return false;
    }
    if (header.version != kVersion || header.header_bytes != kFileHeaderBytes ||
        header.chunk_bytes != kChunkBytes) {
      Report(Problem::kOtherVersion, offsetof(FileHeader, version));
      return false;
    }
    result_.dropped = header.dropped;
    return result_.ok = true;
  }

  void FindChunks(std::vector<ChunkInfo>& dictionary) {
    uint64_t at = kFileHeaderBytes;
    for (; at + kChunkHeaderBytes <= bytes_.size(); at += kChunkBytes) {
      ChunkHeader chunk;
      if (!Copy(at, &chunk, sizeof chunk)) continue;
      if (chunk.magic == 0 && chunk.head == 0) continue;  // allocated, never used
      if (chunk.magic != kChunkMagic ||
          (chunk.kind != ChunkKind::kThread && chunk.kind != ChunkKind::kDictionary)) {
        Report(Problem::kBadChunk, at);
        continue;
      }
      const ChunkInfo info = {at, chunk.sequence, chunk.tid, chunk.dropped, chunk.clock};
      (chunk.kind == ChunkKind::kThread ? result_.chunks : dictionary).push_back(info);
      result_.dropped += chunk.dropped;
    }
    if (at > bytes_.size()) Report(Problem::kCutFile, bytes_.size());
    const auto older = [](const ChunkInfo& a, const ChunkInfo& b) {
      return a.sequence < b.sequence;
    };
    std::stable_sort(result_.chunks.begin(), result_.chunks.end(), older);
    std::stable_sort(dictionary.begin(), dictionary.end(), older);
  }

  // Published words of a chunk that are really in the file.
  size_t CopyPayload(const ChunkInfo& info) {
    uint64_t head = 0;
    if (!Copy(info.offset + offsetof(ChunkHeader, head), &head, sizeof head)) return 0;
    if (head > kChunkPayload || head % 8 != 0) {
      Report(Problem::kBadHead, info.offset + offsetof(ChunkHeader, head));
      head = std::min<uint64_t>(head / 8 * 8, kChunkPayload);
    }
    const uint64_t from = info.offset + kChunkHeaderBytes;
    const size_t there = std::min<uint64_t>(head, (bytes_.size() - from) / 8 * 8);
    return Copy(from, words_, there) ? there / 8 : 0;
  }

  void ReadChunk(const ChunkInfo& info, bool dictionary) {
    const size_t count = CopyPayload(info);
    open_text_ = 0;
    for (size_t at = 0; at < count;) {
      const uint64_t first = words_[at];
      const unsigned length = WordsOf(first);
      const uint64_t offset = info.offset + kChunkHeaderBytes + at * 8;
      const bool fits = length != 0 && length <= count - at;
      const std::span<const uint64_t> values(words_ + at + 1, fits ? length - 1 : 0);
      if (!fits || !LengthIsRight(TypeOf(first), FlagsOf(first), values)) {
        Report(Problem::kBadRecord, offset);
        return;
      }
      const RecordView record = {TypeOf(first), FlagsOf(first), NameOf(first), TrackOf(first),
                                 info.tid,      offset,         values};
      dictionary ? ReadEntry(record) : GiveRecord(record);
      at += length;
    }
  }

  void GiveRecord(const RecordView& record) {
    const bool named = record.name == 0 || result_.Text(record.name) != nullptr;
    const bool tracked = record.track == 0 || result_.Text(record.track) != nullptr;
    if (!named || !tracked) Report(Problem::kUnknownName, record.offset);
    sink_.OnRecord(record);
  }

  void ReadEntry(const RecordView& record) {
    const auto value = static_cast<uint32_t>(record.values[0]);
    if (record.type == RecordType::kText) return ReadText(record);
    if (record.type == RecordType::kThread) result_.thread_names.emplace_back(value, record.name);
    if (record.type == RecordType::kProcess) result_.process_names.emplace_back(value, record.name);
    if (record.type == RecordType::kMeta) result_.metadata.emplace_back(record.name, value);
  }

  void ReadText(const RecordView& record) {
    if (open_text_ != 0 && open_text_ != record.name) Report(Problem::kBadText, record.offset);
    if (open_text_ == 0 || open_text_ != record.name)
      result_.texts.push_back({record.name, false, {}});
    RecordedText& text = result_.texts.back();
    text.text.append(reinterpret_cast<const char*>(record.values.data() + 1), record.values[0]);
    text.cut = (record.flags & kTextCut) != 0;
    open_text_ = (record.flags & kTextContinues) != 0 ? record.name : 0;
  }

  const RecordingBytes& bytes_;
  RecordSink& sink_;
  ReadRecording result_;
  uint32_t open_text_ = 0;  // the string whose next part must follow
  uint64_t words_[kChunkPayload / 8];
};

}  // namespace

const std::string* ReadRecording::Text(uint32_t id) const {
  const auto found =
      std::lower_bound(texts.begin(), texts.end(), id,
                       [](const RecordedText& text, uint32_t id) { return text.id < id; });
  return found != texts.end() && found->id == id ? &found->text : nullptr;
}

ReadRecording ReadDbr(const RecordingBytes& bytes, RecordSink& sink) {
  return Reader(bytes, sink).Read();
}

ReadRecording ReadDbr(std::span<const std::byte> bytes, RecordSink& sink) {
  return ReadDbr(SpanBytes(bytes), sink);
}

OpShapes UnpackOp(const RecordView& record) {
  const uint64_t* at = record.values.data() + (record.type == RecordType::kOp ? 2 : 1);
  const uint64_t descriptor = *at++;
  OpShapes op = {.dtype = static_cast<unsigned>(descriptor & 127),
                 .left_out = (descriptor & kShapesLeftOut) != 0};
  if ((record.flags & kOpBytes) != 0) op.bytes = *at++;
  unsigned index = 0;
  const auto next = [&](unsigned rank, std::vector<uint64_t>& dims) {
    for (unsigned i = 0; i < rank; ++i, ++index) {
      dims.push_back((record.flags & kOpWideDims) != 0
                         ? at[index]
                         : at[index / 3] >> index % 3 * 21 & (kSmallDim - 1));
    }
  };
  for (unsigned i = 0; i < DescribedInputs(descriptor); ++i) {
    next(DescribedInputRank(descriptor, i), op.inputs.emplace_back());
  }
  op.has_output = DescribedOutputRank(descriptor) != kNoShape;
  if (op.has_output) next(DescribedOutputRank(descriptor), op.output);
  return op;
}

}  // namespace debrief::recorder
