// The mapped file. Its address range is reserved whole; the file grows by segments with
// posix_fallocate before anyone may touch them, so a full disk is an error code and never a SIGBUS.
#pragma once

#include "recorder/format.h"

namespace debrief::recorder {

class FileSink {
 public:
  // 0 or an errno. A file of that name is unlinked first: who has it mapped keeps the old one.
  int Open(const char* path, uint64_t max_chunks);
  // Makes chunks [0, count) safe to touch; 0 or an errno.
  int EnsureChunks(uint64_t count);
  // Cuts what no chunk uses and gives the descriptor back. The mapping stays.
  void Close(uint64_t used_chunks);
  // In a forked child: stray writes to the parent's file go to private memory from here on.
  void Detach();

  FileHeader* header() const { return reinterpret_cast<FileHeader*>(base_); }
  ChunkHeader* chunk(uint64_t index) const {
    return reinterpret_cast<ChunkHeader*>(base_ + kFileHeaderBytes + index * kChunkBytes);
  }

 private:
  int GrowTo(uint64_t bytes);

  char* base_ = nullptr;
  uint64_t mapped_ = 0;
  uint64_t allocated_ = 0;
  uint64_t max_chunks_ = 0;
  int fd_ = -1;
};

}  // namespace debrief::recorder
