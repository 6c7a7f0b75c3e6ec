// The layout of a recording (.dbr), shared by writer and reader; docs/formats/recording.md is its
// description.
//
//   4 KiB file header | 64 KiB chunk | 64 KiB chunk | ...      all numbers little-endian
//   chunk: 64-byte header, then records of whole 8-byte words; `head` bytes of them are published
//   record: first word = type 6 bits, flags 2, length in words 8, name 24, track 24
//
// A record costs 16 bytes (begin, end, instant), 24 (span, counter, flow, note, step), 32 (alloc,
// free) or from 32 on (op; 48 with six dims).
#pragma once

#include <cstddef>
#include <cstdint>

namespace debrief::recorder {

inline constexpr uint64_t kFileMagic = 0x0a1a0d3152424489;  // 89 'D' 'B' 'R' '1' \r 1a \n
inline constexpr uint32_t kChunkMagic = 0x43524244;         // "DBRC"
inline constexpr uint32_t kByteOrder = 0x01020304;
inline constexpr uint32_t kVersion = 1;
inline constexpr size_t kFileHeaderBytes = 4096;
inline constexpr size_t kChunkBytes = 65536;
inline constexpr size_t kChunkHeaderBytes = 64;
inline constexpr size_t kChunkPayload = kChunkBytes - kChunkHeaderBytes;
inline constexpr uint32_t kMaxId = (1u << 24) - 1;
inline constexpr size_t kMaxWords = 255;
inline constexpr size_t kMaxText = 32768;     // a longer string is cut
inline constexpr size_t kTextPart = 253 * 8;  // bytes of a string in one record
inline constexpr unsigned kMaxInputs = 11;    // of an op in the short form
inline constexpr unsigned kMaxRank = 14;      // likewise; 15 stands for "no shape"
inline constexpr unsigned kNoShape = 15;
inline constexpr unsigned kLongForm = 15;         // in the place of the number of inputs
inline constexpr unsigned kMaxLongInputs = 4096;  // of an op in the long form
inline constexpr unsigned kMaxLongRank = 4096;
inline constexpr size_t kMaxOpWords = 8160;      // a chunk holds 8184 words
inline constexpr uint64_t kSmallDim = 1u << 21;  // dims below it are packed three to a word

enum class ClockKind : uint32_t { kMonotonic = 1, kTsc = 2, kCntvct = 3 };
enum class Policy : uint32_t { kRing = 0, kStop = 1 };
enum class ChunkKind : uint16_t { kFree = 0, kThread = 1, kDictionary = 2 };

enum class RecordType : uint8_t {
  kInvalid = 0,
  kSpan = 1,      // start, duration
  kBegin = 2,     // time
  kEnd = 3,       // time
  kOp = 4,        // start, duration, descriptor, [bytes], dims
  kOpEnd = 5,     // time, descriptor, [bytes], dims
  kInstant = 6,   // time
  kCounter = 7,   // time, value as the bits of a double
  kFlow = 8,      // time, id; flags: 0 start, 1 step, 2 end
  kLoss = 9,      // count, from, to, tid: what stood in this chunk before
  kNote = 10,     // time, value; name = the key; flags: 0 int64, 1 double, 2 id of a string
  kStep = 11,     // time, number
  kAlloc = 12,    // time, address, bytes
  kFree = 13,     // time, address, bytes
  kMore = 14,     // more words of the record before it
  kOwner = 15,    // tid: who writes this chunk from here on
  kText = 16,     // dictionary: byte count, bytes; name = its id
  kThread = 17,   // dictionary: tid; name = id of the thread's name
  kProcess = 18,  // dictionary: pid; name = id of the process's name
  kMeta = 19,     // dictionary: id of the value; name = id of the key
};

// Flags of kNote, of kText and of the two kinds of op.
inline constexpr unsigned kNoteI64 = 0;
inline constexpr unsigned kNoteF64 = 1;
inline constexpr unsigned kNoteText = 2;
inline constexpr unsigned kTextContinues = 1;  // the next record holds more of the same string
inline constexpr unsigned kTextCut = 2;        // the string was longer than kMaxText
inline constexpr unsigned kOpWideDims = 1;     // one dim to a word
inline constexpr unsigned kOpBytes = 2;        // a word with the bytes follows the descriptor

// FileHeader::closed
inline constexpr uint64_t kClosed = 1;
inline constexpr uint64_t kCopied = 2;

struct ClockTriple {
  uint64_t ticks;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
};

struct FileHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t byte_order;
  uint32_t header_bytes;
  uint32_t chunk_bytes;
  uint32_t pid;
  uint32_t parent_pid;  // of a forked child; else 0
  int32_t rank;         // -1: not told
  int32_t world_size;   // -1: not told
  ClockKind clock_kind;
  Policy policy;
  uint64_t ticks_per_second;  // measured; the triples of the chunks are finer
  ClockTriple opened;
  uint64_t max_chunks;
  uint64_t chunks;       // handed out at least once
  uint64_t overwritten;  // not used by the writer: the chunks have it; filled in by the reader
  uint64_t dropped;      // records of threads that never got a chunk
  uint64_t lost_names;   // strings that found no room
  uint64_t closed;       // 1 after an orderly close, 2 in a copy that the running process made
  uint64_t stopped;      // the errno that ended growth, 0 when none did
  char uuid[16];
  char host[64];
  char boot_id[40];
};

struct ChunkHeader {
  uint32_t magic;
  ChunkKind kind;
  uint16_t reserved;
  uint32_t tid;
  uint32_t generation;  // how often this chunk was handed out before
  uint64_t sequence;    // order in which chunks were handed out, from 1 on
  ClockTriple clock;
  uint64_t head;     // see HeadWord(); stored with release
  uint64_t dropped;  // records that could not be written for want of a next chunk; never reset
};

// Published bytes after the header in 16 bits, records that the ring took back from this chunk in
// 48. One word, so that a process that dies while it takes a chunk back has either the records or
// their count.
constexpr uint64_t HeadWord(uint64_t overwritten, uint64_t bytes) {
  return overwritten << 16 | bytes;
}
constexpr uint64_t PublishedIn(uint64_t word) { return word & 0xffff; }
constexpr uint64_t OverwrittenIn(uint64_t word) { return word >> 16; }

static_assert(sizeof(FileHeader) <= kFileHeaderBytes);
static_assert(sizeof(ChunkHeader) == kChunkHeaderBytes);
static_assert(offsetof(ChunkHeader, head) % 8 == 0);
static_assert(kChunkPayload <= 0xffff);
static_assert(kMaxOpWords + 16 <= kChunkPayload / 8);

constexpr uint64_t FirstWord(RecordType type, unsigned flags, unsigned words, uint32_t name,
                             uint32_t track) {
  return static_cast<uint64_t>(type) | static_cast<uint64_t>(flags & 3) << 6 |
         static_cast<uint64_t>(words & 255) << 8 | static_cast<uint64_t>(name & kMaxId) << 16 |
         static_cast<uint64_t>(track & kMaxId) << 40;
}
constexpr RecordType TypeOf(uint64_t word) { return static_cast<RecordType>(word & 63); }
constexpr unsigned FlagsOf(uint64_t word) { return static_cast<unsigned>(word >> 6 & 3); }
constexpr unsigned WordsOf(uint64_t word) { return static_cast<unsigned>(word >> 8 & 255); }
constexpr uint32_t NameOf(uint64_t word) { return static_cast<uint32_t>(word >> 16 & kMaxId); }
constexpr uint32_t TrackOf(uint64_t word) { return static_cast<uint32_t>(word >> 40); }

// Descriptor of an op: dtype 7 bits, shapes left out 1, inputs 4, output rank 4, eleven input ranks
// of 4. Long form: 15 in place of the inputs, their number in bits 16 to 31, the rank of the output
// plus 1 in bits 32 to 47 (0: none); the ranks of the inputs stand before the dims, four to a word.
constexpr uint64_t kShapesLeftOut = 1u << 7;
constexpr unsigned DescribedInputs(uint64_t word) { return static_cast<unsigned>(word >> 8 & 15); }
constexpr unsigned DescribedOutputRank(uint64_t word) {
  return static_cast<unsigned>(word >> 12 & 15);
}
constexpr unsigned DescribedInputRank(uint64_t word, unsigned input) {
  return static_cast<unsigned>(word >> (16 + 4 * input) & 15);
}
constexpr unsigned LongInputs(uint64_t word) { return static_cast<unsigned>(word >> 16 & 0xffff); }
constexpr unsigned LongOutputRankPlus1(uint64_t word) {
  return static_cast<unsigned>(word >> 32 & 0xffff);
}

}  // namespace debrief::recorder
