#include "recorder/chunk_pool.h"

#include <stdlib.h>

#include "recorder/clock.h"

namespace debrief::recorder {
namespace {

// Less than this much room is not worth a search.
constexpr uint32_t kResumeWords = 256;
// As many of the youngest chunks are looked at for one with room.
constexpr uint64_t kResumeSearch = 64;

uint32_t RoomIn(const Filling& filling) {
  return static_cast<uint32_t>(kChunkPayload / 8) - filling.words;
}

}  // namespace

bool ChunkPool::Open(FileSink* file, uint64_t max_chunks, Policy policy) {
  *this = ChunkPool();
  file_ = file;
  capacity_ = max_chunks_ = max_chunks;
  policy_ = policy;
  sealed_ = static_cast<Sealed*>(calloc(max_chunks, sizeof(Sealed)));
  return sealed_ != nullptr;
}

void ChunkPool::Close() {
  free(sealed_);
  sealed_ = nullptr;
}

ChunkHeader* ChunkPool::TakeForThread(uint32_t tid, Overwritten* overwritten) {
  ChunkHeader* chunk = Take(ChunkKind::kThread, tid, overwritten);
  if (chunk == nullptr) __atomic_store_n(&exhausted_, true, __ATOMIC_RELAXED);
  return chunk;
}

ChunkHeader* ChunkPool::TakeForDictionary() {
  // Half the budget at most: a flood of names must not push out all records.
  if (dictionary_chunks_ >= max_chunks_ / 2) return nullptr;
  Overwritten ignored;
  ChunkHeader* chunk = Take(ChunkKind::kDictionary, 0, &ignored);
  if (chunk != nullptr) ++dictionary_chunks_;
  return chunk;
}

ChunkHeader* ChunkPool::Take(ChunkKind kind, uint32_t tid, Overwritten* overwritten) {
  *overwritten = {};
  ChunkHeader* chunk = TakeFresh();
  if (chunk == nullptr) chunk = TakeOldest(overwritten);
  if (chunk == nullptr) return nullptr;
  chunk->kind = kind;
  chunk->tid = tid;
  chunk->sequence = ++sequence_;
  chunk->clock = ReadTriple();
  __atomic_store_n(&chunk->magic, kChunkMagic, __ATOMIC_RELEASE);
  return chunk;
}

ChunkHeader* ChunkPool::TakeFresh() {
  if (used_ == max_chunks_) return nullptr;
  const int error = file_->EnsureChunks(used_ + 1);
  if (error != 0) {
    // The budget is what the disk gave.
    file_->header()->stopped = static_cast<uint64_t>(error);
    max_chunks_ = used_;
    return nullptr;
  }
  ChunkHeader* chunk = file_->chunk(used_++);
  __atomic_store_n(&file_->header()->chunks, used_, __ATOMIC_RELEASE);
  return chunk;
}

// The old records go and are counted in one store: a process that dies from here on leaves an empty
// chunk, not a mixed one.
ChunkHeader* ChunkPool::TakeOldest(Overwritten* overwritten) {
  if (policy_ == Policy::kStop || count_ == 0) return nullptr;
  const Sealed oldest = At(0);
  ChunkHeader* chunk = oldest.filling.chunk;
  first_ = (first_ + 1) % capacity_;
  --count_;
  CountResumable(oldest, -1);
  *overwritten = {oldest.filling.records, chunk->clock.ticks, oldest.ticks, chunk->tid};
  const uint64_t before = OverwrittenIn(__atomic_load_n(&chunk->head, __ATOMIC_RELAXED));
  __atomic_exchange_n(&chunk->head, HeadWord(before + oldest.filling.records, 0), __ATOMIC_ACQ_REL);
  ++chunk->generation;
  return chunk;
}

bool ChunkPool::Resume(uint32_t words, Filling* filling) {
  const uint32_t needed = words > kResumeWords ? words : kResumeWords;
  for (uint64_t back = 1; back <= count_ && back <= kResumeSearch && resumable_ != 0; ++back) {
    const uint64_t found = count_ - back;
    const Sealed& sealed = At(found);
    if (!sealed.resumable || RoomIn(sealed.filling) < needed) continue;
    *filling = sealed.filling;
    CountResumable(sealed, -1);
    for (uint64_t i = found; i + 1 < count_; ++i) At(i) = At(i + 1);
    --count_;
    return true;
  }
  return false;
}

void ChunkPool::SealLast(const Filling& filling) {
  const bool resumable = RoomIn(filling) >= kResumeWords;
  if (policy_ == Policy::kRing || resumable) Append({filling, Now(), resumable});
}

void ChunkPool::SealFull(const Filling& filling) {
  if (policy_ == Policy::kRing) Append({filling, Now(), false});
}

void ChunkPool::Append(const Sealed& sealed) {
  if (count_ == capacity_) return;
  At(count_++) = sealed;
  CountResumable(sealed, 1);
  if (policy_ == Policy::kRing) __atomic_store_n(&exhausted_, false, __ATOMIC_RELAXED);
}

void ChunkPool::CountResumable(const Sealed& sealed, int by) {
  if (!sealed.resumable) return;
  __atomic_store_n(&resumable_, resumable_ + static_cast<uint64_t>(by), __ATOMIC_RELAXED);
}

unsigned ChunkPool::Upcoming(ChunkHeader** chunks, unsigned count) const {
  if (used_ < max_chunks_ || policy_ == Policy::kStop) return 0;
  unsigned given = 0;
  for (; given < count && given < count_; ++given) chunks[given] = At(given).filling.chunk;
  return given;
}

}  // namespace debrief::recorder
