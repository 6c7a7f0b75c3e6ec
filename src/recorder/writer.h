// Writes records into the calling thread's chunk: reserve words, fill them, publish with one
// release store.
//
// No lock, no allocation and no system call but when a chunk is full.
#pragma once

#include "recorder/format.h"

namespace debrief::recorder {

struct ThreadState {
  uint64_t* words;     // payload of the chunk
  ChunkHeader* chunk;  // null before the first record
  uint32_t at;         // words published
  uint32_t limit;      // words that fit
  uint32_t number;     // of the recording that the chunk belongs to
  uint32_t track;
  uint32_t tid;
  bool busy;  // a record is being written: one from a signal handler would land in the same place
};

// initial-exec and constinit: one addition to a register, no call and no test.
extern thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Room for a record, or null and a counted loss. The caller fills it and calls Publish().
uint64_t* Reserve(ThreadState& thread, unsigned words);

inline void Publish(ThreadState& thread, unsigned words) {
  thread.at += words;
  __atomic_store_n(&thread.chunk->head, uint64_t{thread.at} * 8, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread.busy = false;
}

// In a forked child: the chunk is the parent's.
void ForgetChunk();

}  // namespace debrief::recorder
