// Writes records into the calling thread's chunk: reserve words, fill them, publish with one
// release store.
//
// No lock, no allocation and no system call but when a chunk is full.
#pragma once

#include "recorder/recording.h"
#include "recorder/threads.h"

namespace debrief::recorder {

// The first record of a thread.
[[gnu::noinline, gnu::cold]] ThreadState* ReserveFirst(unsigned words);
// No room in the chunk, or none of this recording.
[[gnu::noinline, gnu::cold]] ThreadState* ReserveMore(ThreadState* thread, unsigned words);
// In a signal handler that interrupted a record of this thread; null.
[[gnu::noinline, gnu::cold]] ThreadState* CountInterrupted(const ThreadState* thread);

// The thread, with room for a record at words + at; or null and a counted loss. The caller fills it
// and calls Publish().
inline ThreadState* Reserve(unsigned words) {
  ThreadState* thread = thread_state;
  if (__builtin_expect(thread == nullptr, 0)) return ReserveFirst(words);
  if (__builtin_expect(__atomic_load_n(&thread->where, __ATOMIC_RELAXED) != kOutside, 0)) {
    return CountInterrupted(thread);
  }
  __atomic_store_n(&thread->where, kInside, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool fits = thread->at + words <= thread->limit &&
                    thread->number == __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
  return __builtin_expect(fits, 1) ? thread : ReserveMore(thread, words);
}

inline void Publish(ThreadState* thread, unsigned words) {
  thread->at += words;
  ++thread->records;
  __atomic_store_n(&thread->chunk->head, thread->before | uint64_t{thread->at} * 8,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&thread->where, kOutside, __ATOMIC_RELEASE);
}

// Instead of Publish(): nothing was recorded.
inline void Abandon(ThreadState* thread) {
  __atomic_store_n(&thread->where, kOutside, __ATOMIC_RELEASE);
}

// The state of a thread that has none yet; null when that is impossible now.
ThreadState* RegisterThread();
// With the lock held: nobody writes to the thread's chunk any more.
void ReleaseChunk(ThreadState& thread);
// What the thread keeps of an older recording is not ours to touch.
void DropForeignChunk(ThreadState& thread);

}  // namespace debrief::recorder
