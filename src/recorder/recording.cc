#include "recorder/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/writer.h"

namespace debrief::recorder {

constinit Recording recording;
constinit uint32_t recording_number = 0;
constinit uint64_t interrupted = 0;

namespace {

void ReadBootId(char* text, size_t bytes) {
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t got = read(fd, text, bytes - 1);
  if (got > 0 && text[got - 1] == '\n') text[got - 1] = 0;
  close(fd);
}

void FillHeader(FileHeader* header, uint32_t parent_pid) {
  header->version = kVersion;
  header->byte_order = kByteOrder;
  header->header_bytes = kFileHeaderBytes;
  header->chunk_bytes = kChunkBytes;
  header->pid = static_cast<uint32_t>(getpid());
  header->parent_pid = parent_pid;
  header->rank = recording.options.rank;
  header->world_size = recording.options.world_size;
  header->clock_kind = PickClock();
  header->policy = static_cast<Policy>(recording.options.policy);
  header->ticks_per_second = MeasureTicksPerSecond();
  header->opened = ReadTriple();
  header->max_chunks = recording.max_chunks;
  // Without randomness the identity is left zero.
  if (getrandom(header->uuid, sizeof header->uuid, GRND_NONBLOCK) < 0) header->uuid[0] = 0;
  gethostname(header->host, sizeof header->host - 1);
  ReadBootId(header->boot_id, sizeof header->boot_id);
  __atomic_store_n(&header->magic, kFileMagic, __ATOMIC_RELEASE);
}

void LockForFork() { pthread_mutex_lock(&recording.lock); }
void UnlockInParent() { pthread_mutex_unlock(&recording.lock); }

// Only marks: a child that calls exec at once should not leave a file behind.
void MarkChild() {
  pthread_mutex_init(&recording.lock, nullptr);
  if (!recording.open) return;
  recording.forked = true;
  ForgetChunk();
}

void RegisterForkOnce() {
  static constinit bool registered = false;
  if (!registered) registered = pthread_atfork(LockForFork, UnlockInParent, MarkChild) == 0;
}

// ".PID" behind a path; false when it does not fit.
bool AppendPid(char* path, size_t room) {
  char digits[16];
  size_t count = 0;
  for (auto pid = static_cast<unsigned>(getpid()); pid != 0; pid /= 10) {
    digits[count++] = static_cast<char>('0' + pid % 10);
  }
  size_t at = strlen(path);
  if (at + count + 2 > room) return false;
  path[at++] = '.';
  while (count != 0) path[at++] = digits[--count];
  path[at] = 0;
  return true;
}

}  // namespace

int OpenRecording(const char* path, uint32_t parent_pid) {
  RegisterForkOnce();
  const int error = recording.file.Open(path, recording.max_chunks);
  if (error != 0) return error;
  FillHeader(recording.file.header(), parent_pid);
  const auto policy = static_cast<Policy>(recording.options.policy);
  if (recording.pool.Open(&recording.file, recording.max_chunks, policy)) return 0;
  recording.file.Close(0);
  return ENOMEM;
}

bool EnsureOwnFile() {
  if (!recording.open) return false;
  if (!recording.forked) return true;
  recording.forked = false;
  FileSink parent = recording.file;
  const uint32_t parent_pid = parent.header()->pid;
  recording.pool.Close();
  recording.open = AppendPid(recording.path, sizeof recording.path) &&
                   OpenRecording(recording.path, parent_pid) == 0;
  if (recording.open) recording.open = recording.dictionary.MoveTo(&recording.pool);
  parent.Detach();
  if (!recording.open) __atomic_store_n(&dbr_on, 0, __ATOMIC_RELAXED);
  return recording.open;
}

void CloseRecording() {
  __atomic_store_n(&dbr_on, 0, __ATOMIC_RELAXED);
  recording.open = false;
  if (recording.forked) {
    recording.file.Detach();
  } else {
    recording.file.header()->closed = 1;
    recording.file.Close(recording.pool.used());
  }
  recording.forked = false;
  recording.pool.Close();
  recording.dictionary.Close();
}

}  // namespace debrief::recorder
