#include "recorder/writer.h"

#include "recorder/clock.h"

namespace debrief::recorder {
namespace {

constexpr unsigned kLossWords = 5;
constexpr unsigned kOwnerWords = 2;
constexpr uint32_t kPayloadWords = kChunkPayload / 8;
// Chunks that the helper keeps ready, and how few of them are left when it is asked for more.
constexpr uint64_t kReadyChunks = 32;
constexpr uint64_t kFewChunks = 16;
// What a thread touches itself of a chunk that is not ready: the helper does the rest meanwhile.
constexpr size_t kTouchedAtOnce = 16384;

void CountOne(uint64_t* counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED); }

bool IsOfThisRecording(const ThreadState& thread) {
  return thread.number == __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
}

void Leave(ThreadState& thread) { __atomic_store_n(&thread.where, kOutside, __ATOMIC_RELEASE); }

void WriteWords(ThreadState& thread, const uint64_t* words, unsigned count) {
  __builtin_memcpy(thread.words + thread.at, words, count * 8);
  thread.at += count;
  __atomic_store_n(&thread.chunk->head, thread.before | uint64_t{thread.at} * 8, __ATOMIC_RELEASE);
}

void Hold(ThreadState& thread, const Filling& filling) {
  const uint64_t head = __atomic_load_n(&filling.chunk->head, __ATOMIC_RELAXED);
  thread.words = reinterpret_cast<uint64_t*>(filling.chunk + 1);
  thread.chunk = filling.chunk;
  thread.before = HeadWord(OverwrittenIn(head), 0);
  thread.at = filling.words;
  thread.limit = kPayloadWords;
  thread.records = filling.records;
  thread.dropped = &filling.chunk->dropped;
}

bool ResumeChunk(ThreadState& thread, unsigned words) {
  Filling filling;
  if (!recording.pool.Resume(words + kOwnerWords, &filling)) return false;
  Hold(thread, filling);
  const uint64_t owner[kOwnerWords] = {FirstWord(RecordType::kOwner, 0, kOwnerWords, 0, 0),
                                       thread.tid};
  WriteWords(thread, owner, kOwnerWords);
  return true;
}

bool TakeChunk(ThreadState& thread) {
  Overwritten lost;
  ChunkHeader* chunk = recording.pool.TakeForThread(thread.tid, &lost);
  if (chunk == nullptr) return false;
  Hold(thread, {chunk, 0, 0});
  if (lost.count == 0) return true;
  const uint64_t loss[kLossWords] = {FirstWord(RecordType::kLoss, 0, kLossWords, 0, 0), lost.count,
                                     lost.from, lost.to, lost.tid};
  WriteWords(thread, loss, kLossWords);
  return true;
}

// In a ring a thread may get its own chunk back, so it is never without one again.
bool ChangeChunk(ThreadState& thread, unsigned words) {
  DropForeignChunk(thread);
  if (thread.chunk == nullptr) thread.dropped = &recording.file.header()->dropped;
  if (thread.chunk == nullptr && ResumeChunk(thread, words)) return true;
  if (thread.chunk != nullptr) {
    recording.pool.SealFull({thread.chunk, thread.at, thread.records});
    SaveChunk(thread.chunk, thread.records);
  }
  return TakeChunk(thread);
}

void AskHelper(const ThreadState& thread) {
  const ChunkPool& pool = recording.pool;
  const uint64_t wanted =
      pool.used() + kFewChunks < pool.max_chunks() ? pool.used() + kFewChunks : pool.max_chunks();
  const bool fresh = recording.file.touched_chunks() < wanted;
  const bool again = pool.used() == pool.max_chunks() && thread.chunk->sequence % 8 == 0;
  if (!fresh && !again) return;
  ChunkHeader* upcoming[Helper::kAgain];
  const unsigned count = pool.Upcoming(upcoming, Helper::kAgain);
  recording.helper.Ask(pool.used() + kReadyChunks, upcoming, count);
}

// How much of its chunk the thread has to touch itself.
size_t BytesToTouch(const ThreadState& thread) {
  const FileSink& file = recording.file;
  const bool ready = !file.mapped() || thread.chunk->generation != 0 ||
                     file.IndexOf(thread.chunk) < file.touched_chunks();
  if (ready) return 0;
  return recording.helper.running() ? kTouchedAtOnce : kChunkBytes;
}

// Another chunk, under the lock; false when there is none, and then the loss is counted.
bool NextChunk(ThreadState& thread, unsigned words, size_t* to_touch) {
  const Lock lock;
  if (!lock.held()) {
    CountOne(&interrupted);
    return false;
  }
  if (!EnsureOwnFile()) return false;
  FoldInterrupted();
  if (!ChangeChunk(thread, words)) {
    CountOne(thread.dropped);
    return false;
  }
  AskHelper(thread);
  *to_touch = BytesToTouch(thread);
  __atomic_store_n(&thread.where, kInside, __ATOMIC_RELAXED);
  return true;
}

// Nothing to be had and known to be so: counted without the lock.
bool IsHopeless(const ThreadState& thread) {
  return IsOfThisRecording(thread) && thread.dropped != nullptr && recording.pool.exhausted() &&
         (thread.chunk != nullptr || !recording.pool.resumable());
}

}  // namespace

void DropForeignChunk(ThreadState& thread) {
  if (IsOfThisRecording(thread)) return;
  thread.chunk = nullptr;
  thread.dropped = nullptr;
  thread.at = thread.limit = 0;
  thread.track = 0;
  thread.number = __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
}

void ReleaseChunk(ThreadState& thread) {
  const bool ours = recording.open && !recording.forked && IsOfThisRecording(thread);
  if (thread.chunk == nullptr || !ours) return;
  recording.pool.SealLast({thread.chunk, thread.at, thread.records});
  SaveChunk(thread.chunk, thread.records);
}

ThreadState* CountInterrupted(const ThreadState* thread) {
  const bool inside = __atomic_load_n(&thread->where, __ATOMIC_RELAXED) == kInside;
  const bool mapped = inside && IsOfThisRecording(*thread) && thread->dropped != nullptr;
  CountOne(mapped ? thread->dropped : &interrupted);
  return nullptr;
}

ThreadState* ReserveMore(ThreadState* thread, unsigned words) {
  if (IsHopeless(*thread)) {
    CountOne(thread->dropped);
    Leave(*thread);
    return nullptr;
  }
  __atomic_store_n(&thread->where, kWaiting, __ATOMIC_RELEASE);
  size_t to_touch = 0;
  if (!NextChunk(*thread, words, &to_touch)) {
    Leave(*thread);
    return nullptr;
  }
  if (to_touch != 0) FileSink::Touch(thread->chunk, to_touch);
  return thread;
}

ThreadState* ReserveFirst(unsigned words) {
  ThreadState* thread = RegisterThread();
  if (thread == nullptr) return nullptr;
  __atomic_store_n(&thread->where, kInside, __ATOMIC_RELAXED);
  return ReserveMore(thread, words);
}

ThreadState* RegisterThread() {
  const Lock lock;
  if (lock.held() && !recording.open) return nullptr;
  ThreadState* thread = lock.held() ? AdoptThread() : nullptr;
  if (thread == nullptr) CountOne(&interrupted);
  return thread;
}

}  // namespace debrief::recorder
