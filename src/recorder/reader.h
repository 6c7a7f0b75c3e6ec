// Reads a recording out of its bytes: everything that was published, whatever became of the
// process.
//
// No file, no clock: bytes come from the caller, a chunk at a time. Each is read once and nothing
// is kept but what is given, so its memory is some multiple of names, chunks and problems, each no
// smaller in the file; no length or count of the file is believed before it was compared with the
// bytes that are there. What is wrong ends a chunk, not the file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "recorder/format.h"

namespace debrief::recorder {

enum class Problem : uint8_t {
  kNotARecording,  // no header, or that of another format
  kOtherVersion,   // made by a version that we cannot read
  kCutFile,        // the last chunk is not whole
  kBadChunk,       // no chunk begins here
  kBadHead,        // more published than a chunk holds
  kBadRecord,    // a record of zero, too much or the wrong length; the rest of its chunk is skipped
  kBadText,      // a string whose parts do not fit together, or a second one of the same id
  kUnknownName,  // an id that the dictionary does not have
  kUnreadable,   // bytes that were there at first could not be read
};

struct ReaderProblem {
  Problem problem;
  uint64_t offset;  // of the byte in the file
};

// One record; which numbers mean something depends on the type, see RecordType.
struct RecordView {
  RecordType type;
  unsigned flags;
  uint32_t name;
  uint32_t track;
  uint32_t tid;
  uint64_t offset;
  // The words after the first, and those of kMore records behind it; valid during the call.
  std::span<const uint64_t> values;
};

struct OpShapes {
  unsigned dtype = 0;
  bool left_out = false;
  bool has_output = false;
  uint64_t bytes = 0;  // 0: not told
  std::vector<std::vector<uint64_t>> inputs;
  std::vector<uint64_t> output;
};

struct ChunkInfo {
  uint64_t offset;
  uint64_t sequence;
  uint32_t tid;
  uint64_t dropped;
  ClockTriple clock;
  uint64_t overwritten;  // records that stood here before
};

struct RecordedText {
  uint32_t id;
  bool cut;
  std::string text;
  uint64_t offset = 0;  // of its first record
};

struct ReadRecording {
  bool ok = false;  // the header was good
  FileHeader header = {};
  std::vector<ChunkInfo> chunks;    // of threads, in the order they were written
  std::vector<RecordedText> texts;  // ids rise; not every id need be there
  std::vector<std::pair<uint32_t, uint32_t>> thread_names;   // tid, name
  std::vector<std::pair<uint32_t, uint32_t>> process_names;  // pid, name
  std::vector<std::pair<uint32_t, uint32_t>> metadata;       // key, value
  uint64_t dropped = 0;                                      // of header and chunks together
  uint64_t overwritten = 0;  // of all chunks; header.overwritten is the same
  std::vector<ReaderProblem> problems;

  // Null when the dictionary has no such id.
  const std::string* Text(uint32_t id) const;
};

// Where the bytes are.
class RecordingBytes {
 public:
  virtual ~RecordingBytes() = default;
  virtual uint64_t size() const = 0;
  // False when they cannot be read; asked for within size() alone.
  virtual bool Copy(uint64_t offset, std::span<std::byte> to) const = 0;
};

class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Before the first record: `read` has its header, names and chunks, and so the points of its
  // clock.
  virtual void OnStart(const ReadRecording& read) { (void)read; }
  virtual void OnRecord(const RecordView& record) = 0;
  // A thread begins: what comes from this id from here on is of another one than what came before.
  virtual void OnThread(uint32_t tid) { (void)tid; }
};

// Dictionary first, then the records of every thread chunk in order of `sequence`. What only says
// how records are stored (kMore, kOwner) is not given.
ReadRecording ReadDbr(const RecordingBytes& bytes, RecordSink& sink);
ReadRecording ReadDbr(std::span<const std::byte> bytes, RecordSink& sink);

// Of a kOp or kOpEnd record that OnRecord() was given.
OpShapes UnpackOp(const RecordView& record);

}  // namespace debrief::recorder
