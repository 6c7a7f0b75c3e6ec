#include "recorder/dictionary.h"

#include <stdlib.h>
#include <string.h>

namespace debrief::recorder {
namespace {

constexpr uint64_t kFirstSlots = 1024;

uint64_t Hash(const char* text, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3;
  }
  return hash ^ hash >> 32;
}

size_t PartWords(size_t bytes) { return 2 + (bytes + 7) / 8; }

size_t TextBytes(size_t bytes) {
  const size_t rest = bytes % kTextPart;
  const size_t whole = bytes / kTextPart * PartWords(kTextPart);
  return (whole + (rest != 0 || bytes == 0 ? PartWords(rest) : 0)) * 8;
}

}  // namespace

bool Dictionary::Open(FileSink* file, ChunkPool* pool, uint64_t max_chunks) {
  *this = Dictionary();
  file_ = file;
  pool_ = pool;
  max_chunks_ = max_chunks;
  chunks_ = static_cast<ChunkHeader**>(calloc(max_chunks, sizeof(ChunkHeader*)));
  heads_ = static_cast<uint64_t*>(calloc(max_chunks, sizeof(uint64_t)));
  return chunks_ != nullptr && heads_ != nullptr && GrowTable();
}

void Dictionary::Close() {
  free(chunks_);
  free(heads_);
  free(slots_);
  *this = Dictionary();
}

uint32_t Dictionary::Intern(const char* text, size_t bytes) {
  const bool cut = bytes > kMaxText;
  if (cut) bytes = kMaxText;
  const uint64_t hash = Hash(text, bytes);
  Slot* slot = Find(hash, text, bytes);
  if (slot->id != 0) return slot->id;
  if (last_id_ == kMaxId || !HasRoom(TextBytes(bytes))) return 0;
  if ((last_id_ + 1) * uint64_t{4} > slot_count_ * 3) {
    if (!GrowTable()) return 0;
    slot = Find(hash, text, bytes);
  }
  const uint64_t last = chunk_count_ - 1;
  *slot = {hash, last * kChunkBytes + heads_[last], ++last_id_};
  WriteText(last_id_, text, bytes, cut);
  Publish();
  return last_id_;
}

bool Dictionary::Append(RecordType type, uint32_t name, uint64_t value) {
  if (!HasRoom(16)) return false;
  const uint64_t words[2] = {FirstWord(type, 0, 2, name, 0), value};
  memcpy(end(), words, sizeof words);
  heads_[chunk_count_ - 1] += sizeof words;
  Publish();
  return true;
}

bool Dictionary::MoveTo(ChunkPool* pool) {
  pool_ = pool;
  for (uint64_t i = 0; i < chunk_count_; ++i) {
    ChunkHeader* copy = pool->TakeForDictionary();
    if (copy == nullptr) return false;
    memcpy(copy + 1, chunks_[i] + 1, heads_[i]);
    __atomic_store_n(&copy->head, heads_[i], __ATOMIC_RELEASE);
    chunks_[i] = copy;
  }
  saved_chunks_ = saved_bytes_ = 0;
  return true;
}

Dictionary::Slot* Dictionary::Find(uint64_t hash, const char* text, size_t bytes) const {
  uint64_t at = hash & (slot_count_ - 1);
  while (slots_[at].id != 0 &&
         (slots_[at].hash != hash || !Matches(slots_[at].place, text, bytes))) {
    at = (at + 1) & (slot_count_ - 1);
  }
  return &slots_[at];
}

bool Dictionary::Matches(uint64_t place, const char* text, size_t bytes) const {
  const char* at = reinterpret_cast<char*>(chunks_[place / kChunkBytes] + 1) + place % kChunkBytes;
  for (;;) {
    uint64_t words[2];
    memcpy(words, at, sizeof words);
    if (words[1] > bytes || memcmp(at + 16, text, words[1]) != 0) return false;
    text += words[1];
    bytes -= words[1];
    if ((FlagsOf(words[0]) & kTextContinues) == 0) return bytes == 0;
    at += WordsOf(words[0]) * 8;
  }
}

bool Dictionary::GrowTable() {
  const uint64_t count = slot_count_ == 0 ? kFirstSlots : slot_count_ * 2;
  auto* grown = static_cast<Slot*>(calloc(count, sizeof(Slot)));
  if (grown == nullptr) return false;
  for (uint64_t i = 0; i < slot_count_; ++i) {
    if (slots_[i].id == 0) continue;
    uint64_t at = slots_[i].hash & (count - 1);
    while (grown[at].id != 0) at = (at + 1) & (count - 1);
    grown[at] = slots_[i];
  }
  free(slots_);
  slots_ = grown;
  slot_count_ = count;
  return true;
}

bool Dictionary::HasRoom(size_t bytes) {
  if (chunk_count_ != 0 && heads_[chunk_count_ - 1] + bytes <= kChunkPayload) return true;
  ChunkHeader* chunk = chunk_count_ == max_chunks_ ? nullptr : pool_->TakeForDictionary();
  if (chunk == nullptr) return false;
  heads_[chunk_count_] = 0;
  chunks_[chunk_count_++] = chunk;
  return true;
}

void Dictionary::WriteText(uint32_t id, const char* text, size_t bytes, bool cut) {
  do {
    const size_t part = bytes < kTextPart ? bytes : kTextPart;
    const auto words = static_cast<unsigned>(PartWords(part));
    const unsigned flags = (bytes > part ? kTextContinues : 0) | (cut ? kTextCut : 0);
    const uint64_t first[2] = {FirstWord(RecordType::kText, flags, words, id, 0), part};
    memset(end() + (words - 1) * 8, 0, 8);
    memcpy(end(), first, sizeof first);
    memcpy(end() + sizeof first, text, part);
    heads_[chunk_count_ - 1] += words * 8;
    text += part;
    bytes -= part;
  } while (bytes != 0);
}

char* Dictionary::end() const {
  return reinterpret_cast<char*>(chunks_[chunk_count_ - 1] + 1) + heads_[chunk_count_ - 1];
}

void Dictionary::Publish() {
  ChunkHeader* chunk = chunks_[chunk_count_ - 1];
  const uint64_t overwritten = OverwrittenIn(__atomic_load_n(&chunk->head, __ATOMIC_RELAXED));
  const uint64_t word = HeadWord(overwritten, heads_[chunk_count_ - 1]);
  __atomic_store_n(&chunk->head, word, __ATOMIC_RELEASE);
}

// Entries are only ever added, so a death in between leaves those that were saved before.
void Dictionary::Save() {
  for (; saved_chunks_ < chunk_count_; ++saved_chunks_, saved_bytes_ = 0) {
    if (saved_bytes_ != heads_[saved_chunks_]) file_->Save(chunks_[saved_chunks_], saved_bytes_);
    saved_bytes_ = heads_[saved_chunks_];
    if (saved_chunks_ + 1 == chunk_count_) return;
  }
}

}  // namespace debrief::recorder
