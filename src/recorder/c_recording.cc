// The C functions that open, close and copy a recording and that write to its dictionary.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/recording.h"

using namespace debrief::recorder;  // NOLINT: functions of the C interface are in no namespace

namespace {

constexpr uint64_t kDefaultBytes = 64 << 20;
constexpr uint64_t kMinChunks = 8;

// Takes what the caller's version of the struct has; the rest keeps its default.
bool TakeOptions(const dbr_options* given, dbr_options* taken) {
  dbr_options_init(taken);
  if (given == nullptr) return true;
  if (given->size < sizeof given->size) return false;
  memcpy(taken, given, given->size < sizeof *taken ? given->size : sizeof *taken);
  if (taken->max_bytes == 0) taken->max_bytes = kDefaultBytes;
  const bool known = (taken->flags & ~uint32_t{DBR_NO_HELPER | DBR_NO_MAPPING}) == 0;
  const bool syncs = taken->sync_seconds == 0 || (taken->flags & DBR_NO_HELPER) == 0;
  return (taken->policy == DBR_RING || taken->policy == DBR_STOP) && known && syncs;
}

uint64_t ChunksIn(uint64_t bytes) {
  const uint64_t chunks = bytes < kFileHeaderBytes ? 0 : (bytes - kFileHeaderBytes) / kChunkBytes;
  return chunks < kMinChunks ? kMinChunks : chunks;
}

dbr_status StatusOf(int error) {
  errno = error;
  return error == ENOSPC || error == EDQUOT ? DBR_NO_SPACE : DBR_IO;
}

dbr_id Intern(const char* text, size_t bytes) {
  const dbr_id id = recording.dictionary.Intern(text, bytes);
  if (id == 0) ++recording.file.header()->lost_names;
  return id;
}

void DescribeProcess(const char* name) {
  if (name == nullptr) return;
  recording.dictionary.Append(RecordType::kProcess, Intern(name, strlen(name)),
                              recording.file.header()->pid);
}

}  // namespace

extern "C" {

void dbr_options_init(dbr_options* options) {
  if (options == nullptr) return;
  *options = {sizeof(dbr_options), DBR_RING, kDefaultBytes, -1, -1, nullptr, 0, 0};
}

dbr_status dbr_open(const char* path, const dbr_options* options, dbr_recording** handle) {
  dbr_options taken;
  if (path == nullptr || handle == nullptr || !TakeOptions(options, &taken)) return DBR_INVALID;
  if (strlen(path) >= sizeof recording.path) return DBR_INVALID;
  const Lock lock;
  if (!lock.held() || recording.open) return DBR_BUSY;
  recording.options = taken;
  recording.max_chunks = ChunksIn(taken.max_bytes);
  strcpy(recording.path, path);
  if (const int error = OpenRecording(path, 0)) return StatusOf(error);
  if (!recording.dictionary.Open(&recording.file, &recording.pool, recording.max_chunks)) {
    CloseRecording();
    return StatusOf(ENOMEM);
  }
  recording.open = true;
  recording.forked = false;
  __atomic_store_n(&recording_number, recording_number + 1, __ATOMIC_RELAXED);
  DescribeProcess(taken.process_name);
  __atomic_store_n(&dbr_on, 1, __ATOMIC_RELAXED);
  *handle = reinterpret_cast<dbr_recording*>(&recording);
  return DBR_OK;
}

dbr_status dbr_close(dbr_recording*) {
  const Lock lock;
  if (!lock.held()) return DBR_BUSY;
  if (!recording.open) return DBR_CLOSED;
  CloseRecording();
  return DBR_OK;
}

void dbr_enable(dbr_recording*, int on) {
  const Lock lock;
  if (lock.held() && recording.open) __atomic_store_n(&dbr_on, on != 0 ? 1 : 0, __ATOMIC_RELAXED);
}

dbr_id dbr_name(const char* text, size_t bytes) {
  if (text == nullptr) return 0;
  const Lock lock;
  return lock.held() && EnsureOwnFile() ? Intern(text, bytes) : 0;
}

void dbr_thread_name(dbr_id name) {
  const auto tid = static_cast<uint64_t>(syscall(SYS_gettid));
  const Lock lock;
  if (lock.held() && EnsureOwnFile()) recording.dictionary.Append(RecordType::kThread, name, tid);
}

void dbr_meta(const char* key, const char* value) {
  if (key == nullptr || value == nullptr) return;
  const Lock lock;
  if (!lock.held() || !EnsureOwnFile()) return;
  const dbr_id id = Intern(key, strlen(key));
  if (id != 0) recording.dictionary.Append(RecordType::kMeta, id, Intern(value, strlen(value)));
}

dbr_status dbr_snapshot(dbr_recording*, const char* path) {
  if (path == nullptr) return DBR_INVALID;
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return DBR_IO;
  const SnapshotResult result = WriteSnapshot(fd);
  close(fd);
  if (!result.open) return DBR_CLOSED;
  return result.error == 0 ? DBR_OK : StatusOf(result.error);
}

dbr_losses dbr_get_losses(dbr_recording*) {
  dbr_losses losses = {};
  const Lock lock;
  if (!lock.held() || !recording.open || recording.forked) return losses;
  FoldInterrupted();
  FileHeader* header = recording.file.header();
  losses.dropped = __atomic_load_n(&header->dropped, __ATOMIC_RELAXED);
  for (uint64_t i = 0; i < recording.pool.used(); ++i) {
    const ChunkHeader* chunk = recording.file.chunk(i);
    losses.dropped += __atomic_load_n(&chunk->dropped, __ATOMIC_RELAXED);
    losses.overwritten += OverwrittenIn(__atomic_load_n(&chunk->head, __ATOMIC_RELAXED));
  }
  losses.names = header->lost_names;
  losses.stopped = static_cast<int>(header->stopped);
  return losses;
}

}  // extern "C"
