// Fuzzing of the recording's reader (src/recorder/reader.h), beside that of its importer.
//
// A recording is mostly zeros, so the input is a packed one, see recording_pack.h. Besides not
// crashing, what is read must keep its promises: sorted, within the file, every id known or
// reported, and never more of anything than the bytes can hold.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>

#include "fuzz_targets.h"
#include "recorder/reader.h"
#include "recording_pack.h"

namespace debrief::recorder {
namespace {

void Require(bool holds) {
  if (!holds) abort();
}

struct Used {
  uint64_t offset;
  uint64_t ids[3];
};

class Sink : public RecordSink {
 public:
  explicit Sink(uint64_t bytes) : bytes_(bytes) {}
  void OnRecord(const RecordView& record) override {
    const uint64_t words = record.values.size() + 1;
    Require(record.offset % 8 == 0 && record.offset + words * 8 <= bytes_);
    Require(record.name <= kMaxId && record.track <= kMaxId);
    Require(record.type != RecordType::kMore && record.type != RecordType::kOwner);
    words_ += words;
    const bool text = record.type == RecordType::kNote && record.flags == kNoteText;
    used.push_back({record.offset, {record.name, record.track, text ? record.values[1] : 0}});
    if (record.type == RecordType::kOp || record.type == RecordType::kOpEnd) CheckOp(record);
  }
  void CheckEnd() const { Require(words_ * 8 <= bytes_); }
  std::vector<Used> used;

 private:
  static void CheckOp(const RecordView& record) {
    const OpShapes op = UnpackOp(record);
    size_t dims = op.output.size();
    for (const std::vector<uint64_t>& input : op.inputs) dims += input.size();
    Require(dims <= record.values.size() * 3);
    Require(op.inputs.size() <= kMaxInputs || op.inputs.size() <= record.values.size() * 4);
    Require(op.has_output || op.output.empty());
  }
  uint64_t bytes_;
  uint64_t words_ = 0;
};

void CheckTexts(const ReadRecording& read, uint64_t bytes) {
  uint64_t length = 0;
  for (size_t i = 0; i < read.texts.size(); ++i) {
    Require(i == 0 || read.texts[i - 1].id < read.texts[i].id);
    Require(read.Text(read.texts[i].id) == &read.texts[i].text);
    length += read.texts[i].text.size();
  }
  Require(length <= bytes);
}

void CheckNames(const ReadRecording& read, const Sink& sink) {
  std::set<uint64_t> reported;
  for (const ReaderProblem& problem : read.problems) {
    if (problem.problem == Problem::kUnknownName) reported.insert(problem.offset);
  }
  for (const Used& used : sink.used) {
    const bool known = std::all_of(std::begin(used.ids), std::end(used.ids), [&](uint64_t id) {
      return id == 0 || (id <= kMaxId && read.Text(static_cast<uint32_t>(id)) != nullptr);
    });
    Require(known != reported.contains(used.offset));
  }
}

void CheckChunks(const ReadRecording& read, uint64_t bytes) {
  for (size_t i = 0; i < read.chunks.size(); ++i) {
    Require(i == 0 || read.chunks[i - 1].sequence <= read.chunks[i].sequence);
    Require(read.chunks[i].offset + kChunkHeaderBytes <= bytes);
  }
  Require(read.chunks.size() <= bytes / kChunkBytes + 1);
  Require(read.problems.size() <= bytes / 8 + 8);
  for (const ReaderProblem& problem : read.problems) Require(problem.offset <= bytes);
}

}  // namespace
}  // namespace debrief::recorder

namespace debrief {

void FuzzRecordingReader(std::span<const uint8_t> data) {
  using namespace debrief::recorder;
  const std::vector<std::byte> bytes = UnpackRecording(data);
  Sink sink(bytes.size());
  const ReadRecording read = ReadDbr(bytes, sink);
  sink.CheckEnd();
  CheckTexts(read, bytes.size());
  CheckNames(read, sink);
  CheckChunks(read, bytes.size());
  Require(read.ok || sink.used.empty());
}

}  // namespace debrief
