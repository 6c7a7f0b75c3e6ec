// Hands out the chunks of a file: fresh ones up to the budget, then the oldest full one (ring) or
// none (stop).
//
// Called with the recording's lock held, once in 64 KiB of records. What a thread that ended left
// of its chunk is given to the next new thread, so ten thousand short threads need no more room
// than their records. Taking a chunk back looks at nothing in it: its records were counted when
// they were written.
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

// A chunk and how far it is written.
struct Filling {
  ChunkHeader* chunk;
  uint32_t words;
  uint32_t records;
};

class ChunkPool {
 public:
  // False when there is no memory for the list of chunks without a writer.
  bool Open(FileSink* file, uint64_t max_chunks, Policy policy);
  void Close();

  // Null when there is none.
  ChunkHeader* TakeForThread(uint32_t tid, Overwritten* overwritten);
  ChunkHeader* TakeForDictionary();
  // A chunk with room for `words` that a thread left when it ended; false when there is none. Only
  // for a thread without a chunk: the chunks of one thread are read in the order they were handed
  // out.
  bool Resume(uint32_t words, Filling* filling);
  // A thread has ended: its chunk may be resumed, or overwritten (ring).
  void SealLast(const Filling& filling);
  // A thread changes chunks. Not resumed: it would outlive the younger chunks of that thread in the
  // ring; and with the policy stop the thread may get no other and keeps it.
  void SealFull(const Filling& filling);

  uint64_t used() const { return used_; }
  uint64_t max_chunks() const { return max_chunks_; }
  // Read without the lock, as a hint.
  bool exhausted() const { return __atomic_load_n(&exhausted_, __ATOMIC_RELAXED); }
  bool resumable() const { return __atomic_load_n(&resumable_, __ATOMIC_RELAXED) != 0; }
  // The chunks that come next when all fresh ones are used; gives how many.
  unsigned Upcoming(ChunkHeader** chunks, unsigned count) const;

 private:
  struct Sealed {
    Filling filling;
    uint64_t ticks;
    bool resumable;
  };

  ChunkHeader* Take(ChunkKind kind, uint32_t tid, Overwritten* overwritten);
  ChunkHeader* TakeFresh();
  ChunkHeader* TakeOldest(Overwritten* overwritten);
  Sealed& At(uint64_t index) const { return sealed_[(first_ + index) % capacity_]; }
  void Append(const Sealed& sealed);
  void CountResumable(const Sealed& sealed, int by);

  FileSink* file_ = nullptr;
  Sealed* sealed_ = nullptr;  // a queue in a ring of capacity_ places, oldest first
  uint64_t capacity_ = 0;
  uint64_t first_ = 0;
  uint64_t count_ = 0;
  uint64_t max_chunks_ = 0;
  uint64_t used_ = 0;
  uint64_t sequence_ = 0;
  uint64_t dictionary_chunks_ = 0;
  uint64_t resumable_ = 0;
  bool exhausted_ = false;
  Policy policy_ = Policy::kRing;
};

}  // namespace debrief::recorder
