// Hands out the chunks of a file: fresh ones up to the budget, then the oldest full one (ring) or
// none (stop).
//
// Called with the recording's lock held, once in 64 KiB of records.
#pragma once

#include "recorder/file_sink.h"

namespace debrief::recorder {

// What was in a chunk that the ring took back; count 0 when it was fresh.
struct Overwritten {
  uint64_t count;
  uint64_t from;
  uint64_t to;
  uint64_t tid;
};

class ChunkPool {
 public:
  // False when there is no memory for the list of full chunks.
  bool Open(FileSink* file, uint64_t max_chunks, Policy policy);
  void Close();

  ChunkHeader* TakeForThread(uint32_t tid, Overwritten* overwritten);
  ChunkHeader* TakeForDictionary();
  // The chunk has no writer any more; in a ring it may be overwritten from here on.
  void Seal(ChunkHeader* chunk);

  uint64_t used() const { return used_; }
  Policy policy() const { return policy_; }

 private:
  ChunkHeader* Take(ChunkKind kind, uint32_t tid, Overwritten* overwritten);
  ChunkHeader* TakeFresh();
  ChunkHeader* TakeOldest(Overwritten* overwritten);

  FileSink* file_ = nullptr;
  ChunkHeader** full_ = nullptr;  // a queue in a ring of max_chunks_ places
  uint64_t first_full_ = 0;
  uint64_t full_count_ = 0;
  uint64_t max_chunks_ = 0;
  uint64_t used_ = 0;
  uint64_t sequence_ = 0;
  uint64_t dictionary_chunks_ = 0;
  Policy policy_ = Policy::kRing;
};

}  // namespace debrief::recorder
