#include "recorder/writer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/recording.h"

namespace debrief::recorder {

thread_local constinit ThreadState thread_state __attribute__((tls_model("initial-exec"))) = {};

namespace {

constexpr unsigned kLossWords = 5;

void CountDropped(ThreadState& thread) {
  uint64_t* counter = thread.chunk != nullptr ? &thread.chunk->dropped : &interrupted;
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

void SealAtExit(void*) {
  ThreadState& thread = thread_state;
  const Lock lock;
  if (thread.chunk != nullptr && recording.open && !recording.forked &&
      thread.number == recording_number) {
    recording.pool.Seal(thread.chunk);
  }
  thread.chunk = nullptr;
  thread.at = thread.limit = 0;
}

// A destructor for the thread's end; the value only has to be something else than null.
void SealWhenThreadEnds() {
  static constinit bool made = false;
  static constinit pthread_key_t key = 0;
  if (!made) made = pthread_key_create(&key, SealAtExit) == 0;
  if (made) pthread_setspecific(key, &thread_state);
}

void WriteLoss(ThreadState& thread, const Overwritten& lost) {
  const uint64_t words[kLossWords] = {FirstWord(RecordType::kLoss, 0, kLossWords, 0, 0), lost.count,
                                      lost.from, lost.to, lost.tid};
  __builtin_memcpy(thread.words, words, sizeof words);
  thread.at = kLossWords;
  __atomic_store_n(&thread.chunk->head, sizeof words, __ATOMIC_RELEASE);
}

void Adopt(ThreadState& thread, ChunkHeader* chunk, const Overwritten& lost) {
  thread.words = reinterpret_cast<uint64_t*>(chunk + 1);
  thread.chunk = chunk;
  thread.at = 0;
  thread.limit = kChunkPayload / 8;
  thread.number = recording_number;
  if (lost.count != 0) WriteLoss(thread, lost);
}

// The chunk of an older recording, or of the parent of a forked child, is not ours to touch.
void DropForeignChunk(ThreadState& thread) {
  if (thread.number == recording_number) return;
  thread.chunk = nullptr;
  thread.at = thread.limit = 0;
  thread.track = 0;
}

[[gnu::noinline, gnu::cold]] bool NextChunk(ThreadState& thread) {
  const Lock lock;
  if (!EnsureOwnFile()) return false;
  DropForeignChunk(thread);
  if (thread.tid == 0) {
    thread.tid = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  // In a ring a thread may get its own chunk back, so it is never without one again.
  if (thread.chunk != nullptr) recording.pool.Seal(thread.chunk);
  Overwritten lost;
  ChunkHeader* chunk = recording.pool.TakeForThread(thread.tid, &lost);
  if (chunk != nullptr) {
    SealWhenThreadEnds();
    Adopt(thread, chunk, lost);
    return true;
  }
  uint64_t* counter =
      thread.chunk != nullptr ? &thread.chunk->dropped : &recording.file.header()->dropped;
  __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
  return false;
}

}  // namespace

uint64_t* Reserve(ThreadState& thread, unsigned words) {
  if (__builtin_expect(thread.busy, 0)) {
    CountDropped(thread);
    return nullptr;
  }
  thread.busy = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool fits = thread.at + words <= thread.limit &&
                    thread.number == __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
  if (__builtin_expect(fits, 1) || NextChunk(thread)) return thread.words + thread.at;
  thread.busy = false;
  return nullptr;
}

void ForgetChunk() {
  ThreadState& thread = thread_state;
  thread.chunk = nullptr;
  thread.at = thread.limit = 0;
  thread.tid = 0;
}

}  // namespace debrief::recorder
