#include "recorder/reader.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace debrief::recorder {
namespace {

// How the shapes of an op are told: by its descriptor and, in the long form, by words of ranks in
// front of the dims.
struct OpForm {
  bool is_long;
  unsigned inputs;
  bool has_output;
  unsigned output_rank;  // 0 without an output
  uint64_t descriptor;
  std::span<const uint64_t> ranks;  // of the inputs, in the long form

  unsigned RankOf(unsigned input) const {
    if (!is_long) return DescribedInputRank(descriptor, input);
    return static_cast<unsigned>(ranks[input / 4] >> input % 4 * 16 & 0xffff);
  }
};

// None when no op has such; `rest` are the words after descriptor and bytes.
std::optional<OpForm> FormOf(uint64_t descriptor, std::span<const uint64_t> rest) {
  const bool is_long = DescribedInputs(descriptor) == kLongForm;
  const unsigned inputs = is_long ? LongInputs(descriptor) : DescribedInputs(descriptor);
  const bool has_output =
      is_long ? LongOutputRankPlus1(descriptor) != 0 : DescribedOutputRank(descriptor) != kNoShape;
  const unsigned output_rank = !has_output ? 0
                               : is_long   ? LongOutputRankPlus1(descriptor) - 1
                                           : DescribedOutputRank(descriptor);
  const size_t rank_words = is_long ? (inputs + 3) / 4 : 0;
  if (inputs > (is_long ? kMaxLongInputs : kMaxInputs) || rest.size() < rank_words ||
      (is_long && output_rank > kMaxLongRank))
    return std::nullopt;
  return OpForm{is_long, inputs, has_output, output_rank, descriptor, rest.first(rank_words)};
}

bool OpIsRight(std::span<const uint64_t> values, size_t times, unsigned flags) {
  const size_t fixed = times + 1 + ((flags & kOpBytes) != 0 ? 1 : 0);
  if (values.size() < fixed) return false;
  const std::optional<OpForm> form = FormOf(values[times], values.subspan(fixed));
  if (!form) return false;
  uint64_t dims = form->output_rank;
  for (unsigned i = 0; i < form->inputs; ++i) {
    if (form->RankOf(i) > (form->is_long ? kMaxLongRank : kMaxRank)) return false;
    dims += form->RankOf(i);
  }
  const uint64_t words = (flags & kOpWideDims) != 0 ? dims : (dims + 2) / 3;
  return values.size() - fixed == form->ranks.size() + words;
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
    case RecordType::kOwner:
      return values.size() == 1;
    case RecordType::kSpan:
    case RecordType::kCounter:
    case RecordType::kFlow:
    case RecordType::kNote:
    case RecordType::kStep:
      return values.size() == 2;
    case RecordType::kAlloc:
    case RecordType::kFree:
      return values.size() == 3;
    case RecordType::kLoss:
      return values.size() == 4;
    case RecordType::kOp:
      return OpIsRight(values, 2, flags);
    case RecordType::kOpEnd:
      return OpIsRight(values, 1, flags);
    case RecordType::kText:
      return !values.empty() && values[0] <= kTextPart && values.size() == 1 + (values[0] + 7) / 8;
    case RecordType::kInvalid:
    case RecordType::kMore:  // behind a record that has none
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
    SortTexts();
    CheckNames();
    sink_.OnStart(result_);
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
      const ChunkInfo info = {at,          chunk.sequence,           chunk.tid, chunk.dropped,
                              chunk.clock, OverwrittenIn(chunk.head)};
      (chunk.kind == ChunkKind::kThread ? result_.chunks : dictionary).push_back(info);
      result_.dropped += chunk.dropped;
      result_.overwritten += info.overwritten;
    }
    result_.header.overwritten = result_.overwritten;
    if (at > bytes_.size()) Report(Problem::kCutFile, bytes_.size());
    const auto older = [](const ChunkInfo& a, const ChunkInfo& b) {
      return a.sequence < b.sequence;
    };
    std::stable_sort(result_.chunks.begin(), result_.chunks.end(), older);
    std::stable_sort(dictionary.begin(), dictionary.end(), older);
  }

  // The first of two strings with one id is kept.
  void SortTexts() {
    std::vector<RecordedText>& texts = result_.texts;
    std::stable_sort(texts.begin(), texts.end(),
                     [](const RecordedText& a, const RecordedText& b) { return a.id < b.id; });
    const auto same = [&](const RecordedText& a, const RecordedText& b) {
      if (a.id == b.id) Report(Problem::kBadText, b.offset);
      return a.id == b.id;
    };
    texts.erase(std::unique(texts.begin(), texts.end(), same), texts.end());
  }

  // Names of threads, processes and metadata; that of the dictionary is the only place they have.
  void CheckNames() {
    size_t unknown = 0;
    for (const auto& [tid, name] : result_.thread_names) unknown += IsKnown(name) ? 0 : 1;
    for (const auto& [pid, name] : result_.process_names) unknown += IsKnown(name) ? 0 : 1;
    for (const auto& [key, value] : result_.metadata) {
      unknown += IsKnown(key) && IsKnown(value) ? 0 : 1;
    }
    if (unknown != 0) Report(Problem::kUnknownName, kFileHeaderBytes);
  }

  // Published words of a chunk that are really in the file.
  size_t CopyPayload(const ChunkInfo& info) {
    uint64_t word = 0;
    if (!Copy(info.offset + offsetof(ChunkHeader, head), &word, sizeof word)) return 0;
    uint64_t head = PublishedIn(word);
    if (head > kChunkPayload || head % 8 != 0) {
      Report(Problem::kBadHead, info.offset + offsetof(ChunkHeader, head));
      head = std::min<uint64_t>(head / 8 * 8, kChunkPayload);
    }
    const uint64_t from = info.offset + kChunkHeaderBytes;
    const size_t there = std::min<uint64_t>(head, (bytes_.size() - from) / 8 * 8);
    return Copy(from, words_, there) ? there / 8 : 0;
  }

  // The words after the first of the record at `at`; moves `at` behind it and its kMore records.
  // None when a length is wrong.
  std::optional<std::span<const uint64_t>> TakeValues(size_t& at, size_t count) {
    const size_t length = WordsOf(words_[at]);
    if (length == 0 || length > count - at) return std::nullopt;
    const std::span<const uint64_t> values(words_ + at + 1, length - 1);
    at += length;
    if (!IsMore(at, count)) return values;
    joined_.assign(values.begin(), values.end());
    while (IsMore(at, count)) {
      const size_t more = WordsOf(words_[at]);
      if (more < 2 || more > count - at) return std::nullopt;
      joined_.insert(joined_.end(), words_ + at + 1, words_ + at + more);
      at += more;
    }
    return joined_;
  }

  bool IsMore(size_t at, size_t count) const {
    return at < count && TypeOf(words_[at]) == RecordType::kMore;
  }

  // A thread takes another chunk when a record finds no room. Where the last chunk of the same id
  // has room, its thread has ended, and the kernel has given the id to another one.
  void BeginChunk(uint32_t tid, size_t count) {
    size_t at = 0;
    if (count > 0 && TypeOf(words_[0]) == RecordType::kLoss) at = WordsOf(words_[0]);
    if (at >= count) return;
    size_t end = at + WordsOf(words_[at]);
    while (IsMore(end, count) && WordsOf(words_[end]) > 0) end += WordsOf(words_[end]);
    const auto room = room_.find(tid);
    if (room != room_.end() && room->second >= end - at) sink_.OnThread(tid);
    room_.erase(tid);
  }

  void ReadChunk(const ChunkInfo& info, bool dictionary) {
    const size_t count = CopyPayload(info);
    open_text_ = 0;
    uint32_t tid = info.tid;
    if (!dictionary) BeginChunk(tid, count);
    for (size_t at = 0; at < count;) {
      const uint64_t first = words_[at];
      const uint64_t offset = info.offset + kChunkHeaderBytes + at * 8;
      const auto values = TakeValues(at, count);
      if (!values || !LengthIsRight(TypeOf(first), FlagsOf(first), *values)) {
        Report(Problem::kBadRecord, offset);
        return;
      }
      const RecordView record = {TypeOf(first), FlagsOf(first), NameOf(first), TrackOf(first),
                                 tid,           offset,         *values};
      if (record.type == RecordType::kOwner) {  // the first record of a thread
        room_[tid] = kChunkPayload;
        tid = static_cast<uint32_t>(record.values[0]);
        sink_.OnThread(tid);
      } else {
        dictionary ? ReadEntry(record) : GiveRecord(record);
      }
    }
    if (!dictionary) room_[tid] = kChunkPayload / 8 - count;
  }

  bool IsKnown(uint64_t id) const {
    return id == 0 || (id <= kMaxId && result_.Text(static_cast<uint32_t>(id)) != nullptr);
  }

  void GiveRecord(const RecordView& record) {
    const bool text = record.type == RecordType::kNote && record.flags == kNoteText;
    const bool known =
        IsKnown(record.name) && IsKnown(record.track) && (!text || IsKnown(record.values[1]));
    if (!known) Report(Problem::kUnknownName, record.offset);
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
      result_.texts.push_back({record.name, false, {}, record.offset});
    RecordedText& text = result_.texts.back();
    text.text.append(reinterpret_cast<const char*>(record.values.data() + 1), record.values[0]);
    text.cut = (record.flags & kTextCut) != 0;
    open_text_ = (record.flags & kTextContinues) != 0 ? record.name : 0;
  }

  const RecordingBytes& bytes_;
  RecordSink& sink_;
  ReadRecording result_;
  std::map<uint32_t, size_t> room_;  // words left in the last chunk of each thread
  uint32_t open_text_ = 0;           // the string whose next part must follow
  std::vector<uint64_t> joined_;     // of a record in several parts
  uint64_t words_[kChunkPayload / 8];
};

}  // namespace

const std::string* ReadRecording::Text(uint32_t id) const {
  // A file that is whole has every id from 1 on.
  if (id != 0 && id <= texts.size() && texts[id - 1].id == id) return &texts[id - 1].text;
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

namespace {

// Dims in the order they were written.
class DimReader {
 public:
  DimReader(const uint64_t* words, bool wide) : words_(words), wide_(wide) {}
  void Read(unsigned rank, std::vector<uint64_t>& dims) {
    for (unsigned i = 0; i < rank; ++i, ++index_) {
      dims.push_back(wide_ ? words_[index_]
                           : words_[index_ / 3] >> index_ % 3 * 21 & (kSmallDim - 1));
    }
  }

 private:
  const uint64_t* words_;
  bool wide_;
  unsigned index_ = 0;
};

}  // namespace

OpShapes UnpackOp(const RecordView& record) {
  size_t at = record.type == RecordType::kOp ? 2 : 1;
  const uint64_t descriptor = record.values[at++];
  OpShapes op = {.dtype = static_cast<unsigned>(descriptor & 127),
                 .left_out = (descriptor & kShapesLeftOut) != 0};
  if ((record.flags & kOpBytes) != 0) op.bytes = record.values[at++];
  const OpForm form = *FormOf(descriptor, record.values.subspan(at));  // was checked when read
  DimReader dims(record.values.data() + at + form.ranks.size(), (record.flags & kOpWideDims) != 0);
  for (unsigned i = 0; i < form.inputs; ++i) dims.Read(form.RankOf(i), op.inputs.emplace_back());
  op.has_output = form.has_output;
  dims.Read(form.output_rank, op.output);
  return op;
}

}  // namespace debrief::recorder
