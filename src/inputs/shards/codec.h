// What was found and what was read, as bytes: see shard.h.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "inputs/found_input.h"
#include "inputs/shards/bytes.h"
#include "model/model.h"

namespace debrief::shards {

// Long lists that parts of a shard share (the members of large groups), each written once.
class LongLists {
 public:
  static constexpr size_t kShort = 64;  // up to here a list stands in its part

  // Its number; any thread.
  uint32_t Add(std::span<const int64_t> list);

  void Write(ByteWriter& out) const;
  bool Read(ByteReader& in);
  // Null when there is no such list; for one thread that writes or many that read.
  ListId InternInto(uint32_t number, Pools& pools) const;

 private:
  std::mutex mutex_;
  SequencePool<int64_t, ListId> lists_;
  std::vector<uint32_t> hashes_;  // by number, once read
};

void WriteFound(const FoundInput& input, ByteWriter& out);
// `input` is as FindInputs left it, but for what was unpacked.
bool ReadFound(ByteReader& in, FoundInput& input);

// `who`: whose rows these are; the reader gives them the identity that the input has by then.
void WritePart(const Part& part, const Identity& who, LongLists& lists, ByteWriter& out);
bool ReadPart(ByteReader& in, const Identity& who, const LongLists& lists, Part& part);

}  // namespace debrief::shards
