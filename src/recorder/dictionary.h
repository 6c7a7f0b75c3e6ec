// Strings by number, in chunks that the ring never overwrites. An id is given out only after its
// entry is published.
//
// The text is kept in the mapped file alone; the table beside it holds hashes and places. Called
// with the recording's lock held.
#pragma once

#include "recorder/chunk_pool.h"

namespace debrief::recorder {

class Dictionary {
 public:
  bool Open(FileSink* file, ChunkPool* pool, uint64_t max_chunks);
  void Close();

  // The id of a string; 0 when there is no room for it.
  uint32_t Intern(const char* text, size_t bytes);
  // A record of two words.
  bool Append(RecordType type, uint32_t name, uint64_t value);
  // In a forked child: the same entries, at the same ids, in chunks of another file.
  bool MoveTo(ChunkPool* pool);
  // Where the file is not mapped: writes what is new to it.
  void Save();

 private:
  struct Slot {
    uint64_t hash;
    uint64_t place;  // number of the dictionary chunk * kChunkBytes + offset in its payload
    uint32_t id;     // 0: empty
  };

  Slot* Find(uint64_t hash, const char* text, size_t bytes) const;
  bool Matches(uint64_t place, const char* text, size_t bytes) const;
  bool GrowTable();
  bool HasRoom(size_t bytes);
  void WriteText(uint32_t id, const char* text, size_t bytes, bool cut);
  char* end() const;
  void Publish();

  FileSink* file_ = nullptr;
  ChunkPool* pool_ = nullptr;
  ChunkHeader** chunks_ = nullptr;
  uint64_t* heads_ =
      nullptr;  // bytes in each chunk; ours, so a child knows what there was when it was forked
  uint64_t chunk_count_ = 0;
  uint64_t saved_chunks_ = 0;  // are in the file whole, and of the next one
  uint64_t saved_bytes_ = 0;
  uint64_t max_chunks_ = 0;
  Slot* slots_ = nullptr;
  uint64_t slot_count_ = 0;  // a power of two
  uint32_t last_id_ = 0;
};

}  // namespace debrief::recorder
