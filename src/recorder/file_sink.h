// The file as memory. Normally it is mapped and shared, so what is written belongs to the kernel at
// once; its address range is reserved whole, and the file grows by segments with posix_fallocate
// before anyone may touch them, so a full disk is an error code and never a SIGBUS.
//
// Where a shared mapping is impossible the memory is the process's own and chunks are written to
// the file when they are full: a process that is killed then loses what its threads had in their
// last chunks.
//
// New pages of a file cost about a millisecond a MiB, most of it in their first touch; the helper
// thread (helper.h) therefore allocates and touches ahead.
#pragma once

#include "recorder/format.h"

namespace debrief::recorder {

class FileSink {
 public:
  // 0 or an errno. A file of that name is unlinked first: who has it mapped keeps the old one.
  int Open(const char* path, uint64_t max_chunks, bool mapped);
  // Makes chunks [0, count) safe to touch; 0 or an errno.
  int EnsureChunks(uint64_t count);
  // Allocates and touches one more chunk of [0, count); false when there is none. For the helper.
  bool TouchNext(uint64_t count);
  uint64_t touched_chunks() const { return __atomic_load_n(&touched_, __ATOMIC_ACQUIRE); }
  // Page faults now rather than in the middle of what is measured.
  static void Touch(void* at, size_t bytes);
  void Sync() const;

  // Without a mapping: writes a chunk to the file, whose first `saved` bytes are there already; 0
  // or an errno. With one there is nothing to do.
  int Save(const ChunkHeader* chunk, uint64_t saved) const;
  int SaveHeader() const;
  void CopyHeader(FileHeader* copy) const;

  // Cuts what no chunk uses and gives the descriptor back. The memory stays until Unmap().
  void Close(uint64_t used_chunks);
  void Unmap();
  // In a forked child: the parent's file is left as it is.
  void Forget();

  bool mapped() const { return shared_; }
  FileHeader* header() const { return reinterpret_cast<FileHeader*>(base_); }
  ChunkHeader* chunk(uint64_t index) const {
    return reinterpret_cast<ChunkHeader*>(base_ + kFileHeaderBytes + index * kChunkBytes);
  }
  uint64_t IndexOf(const ChunkHeader* chunk) const {
    return (static_cast<uint64_t>(reinterpret_cast<const char*>(chunk) - base_) -
            kFileHeaderBytes) /
           kChunkBytes;
  }

 private:
  int Map();
  int Lengthen(uint64_t bytes) const;
  int GrowTo(uint64_t bytes);
  int Write(const void* bytes, size_t count, uint64_t offset) const;

  char* base_ = nullptr;
  uint64_t bytes_ = 0;      // of the address range
  uint64_t allocated_ = 0;  // bytes of the file that are safe to touch
  uint64_t touched_ = 0;    // chunks whose pages are there
  uint64_t max_chunks_ = 0;
  int fd_ = -1;
  bool shared_ = false;
};

// Only one thread makes the file longer. fork() holds this lock too.
void LockGrowth();
void UnlockGrowth();
void ResetGrowthInChild();

}  // namespace debrief::recorder
