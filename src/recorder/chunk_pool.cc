#include "recorder/chunk_pool.h"

#include <stdlib.h>

#include "recorder/clock.h"

namespace debrief::recorder {
namespace {

bool HasTimeSecond(RecordType type) { return type != RecordType::kLoss; }

Overwritten CountRecords(const ChunkHeader* chunk) {
  Overwritten found = {0, chunk->clock.ticks, chunk->clock.ticks, chunk->tid};
  const auto* words = reinterpret_cast<const uint64_t*>(chunk + 1);
  const uint64_t end = chunk->head / 8;
  for (uint64_t at = 0; at < end && WordsOf(words[at]) != 0; at += WordsOf(words[at])) {
    if (!HasTimeSecond(TypeOf(words[at]))) continue;
    ++found.count;
    if (words[at + 1] > found.to) found.to = words[at + 1];
  }
  return found;
}

}  // namespace

bool ChunkPool::Open(FileSink* file, uint64_t max_chunks, Policy policy) {
  *this = ChunkPool();
  file_ = file;
  max_chunks_ = max_chunks;
  policy_ = policy;
  full_ = static_cast<ChunkHeader**>(calloc(max_chunks, sizeof(ChunkHeader*)));
  return full_ != nullptr;
}

void ChunkPool::Close() {
  free(full_);
  full_ = nullptr;
}

ChunkHeader* ChunkPool::TakeForThread(uint32_t tid, Overwritten* overwritten) {
  return Take(ChunkKind::kThread, tid, overwritten);
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
  chunk->dropped = 0;
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

// Head goes to zero first: a process that dies from here on leaves an empty chunk, not a mixed one.
ChunkHeader* ChunkPool::TakeOldest(Overwritten* overwritten) {
  if (policy_ == Policy::kStop || full_count_ == 0) return nullptr;
  ChunkHeader* chunk = full_[first_full_];
  first_full_ = (first_full_ + 1) % max_chunks_;
  --full_count_;
  *overwritten = CountRecords(chunk);
  FileHeader* header = file_->header();
  __atomic_fetch_add(&header->overwritten, overwritten->count, __ATOMIC_RELAXED);
  __atomic_fetch_add(&header->dropped, chunk->dropped, __ATOMIC_RELAXED);
  __atomic_exchange_n(&chunk->head, 0, __ATOMIC_ACQ_REL);
  ++chunk->generation;
  return chunk;
}

void ChunkPool::Seal(ChunkHeader* chunk) {
  if (policy_ == Policy::kStop || full_count_ == max_chunks_) return;
  full_[(first_full_ + full_count_) % max_chunks_] = chunk;
  ++full_count_;
}

}  // namespace debrief::recorder
