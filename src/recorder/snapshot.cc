// A copy of the open recording.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/recording.h"

namespace debrief::recorder {
namespace {

int WriteAll(int fd, const char* bytes, size_t count, uint64_t offset) {
  while (count != 0) {
    const ssize_t done = pwrite(fd, bytes, count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    bytes += done;
    count -= static_cast<size_t>(done);
    offset += static_cast<uint64_t>(done);
  }
  return 0;
}

bool SameRecording(uint32_t number) {
  return recording.open && !recording.forked && recording_number == number;
}

// The next chunk to copy into `buffer`; false when it is of the other kind, or the recording is
// gone.
bool CopyChunk(uint64_t index, bool dictionary, uint32_t number, char* buffer) {
  const Lock lock;
  if (!lock.held() || !SameRecording(number)) return false;
  ChunkHeader* chunk = recording.file.chunk(index);
  if ((chunk->kind == ChunkKind::kDictionary) != dictionary) return false;
  memset(buffer, 0, kChunkBytes);
  auto* copy = reinterpret_cast<ChunkHeader*>(buffer);
  const uint64_t head = __atomic_load_n(&chunk->head, __ATOMIC_ACQUIRE);
  memcpy(copy, chunk, offsetof(ChunkHeader, head));
  copy->head = head;
  copy->dropped = __atomic_load_n(&chunk->dropped, __ATOMIC_RELAXED);
  memcpy(copy + 1, chunk + 1, PublishedIn(head));
  return true;
}

int CopyChunks(int fd, uint64_t count, bool dictionary, uint32_t number, char* buffer) {
  for (uint64_t i = 0; i < count; ++i) {
    if (!CopyChunk(i, dictionary, number, buffer)) continue;
    if (const int error = WriteAll(fd, buffer, kChunkBytes, kFileHeaderBytes + i * kChunkBytes)) {
      return error;
    }
  }
  return 0;
}

// False when nothing is open. Gives how many chunks there are at least.
bool CopyHeader(char* buffer, uint64_t* chunks, uint32_t* number) {
  const Lock lock;
  if (!lock.held() || !recording.open || recording.forked) return false;
  auto* header = reinterpret_cast<FileHeader*>(buffer);
  recording.file.CopyHeader(header);
  header->closed = kCopied;
  *chunks = recording.pool.used();
  *number = recording_number;
  return true;
}

uint64_t ChunksNow(uint64_t before, uint32_t number) {
  const Lock lock;
  return lock.held() && SameRecording(number) ? recording.pool.used() : before;
}

}  // namespace

// Names last: every id in a copied record is then in the copy too.
SnapshotResult WriteSnapshot(int fd) {
  auto* buffer = static_cast<char*>(malloc(kChunkBytes));
  if (buffer == nullptr) return {true, ENOMEM};
  uint64_t chunks = 0;
  uint32_t number = 0;
  const bool open = CopyHeader(buffer, &chunks, &number);
  int error = 0;
  if (open) {
    error = WriteAll(fd, buffer, kFileHeaderBytes, 0);
    if (error == 0) error = CopyChunks(fd, chunks, false, number, buffer);
    if (error == 0) error = CopyChunks(fd, ChunksNow(chunks, number), true, number, buffer);
  }
  free(buffer);
  return {open, error};
}

}  // namespace debrief::recorder
