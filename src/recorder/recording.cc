#include "recorder/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/threads.h"

namespace debrief::recorder {

constinit Recording recording;
constinit uint32_t recording_number = 0;
constinit uint64_t interrupted = 0;
thread_local constinit bool thread_has_lock __attribute__((tls_model("initial-exec"))) = false;

namespace {

// Mappings that a thread was still inside of when their recording was closed; see Retire().
constexpr unsigned kMaxRetired = 16;
constinit FileSink retired[kMaxRetired];
constinit unsigned retired_count = 0;

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
  header->ticks_per_second = TicksPerSecond();
  header->opened = ReadTriple();
  header->max_chunks = recording.max_chunks;
  // Without randomness the identity is left zero.
  if (getrandom(header->uuid, sizeof header->uuid, GRND_NONBLOCK) < 0) header->uuid[0] = 0;
  gethostname(header->host, sizeof header->host - 1);
  ReadBootId(header->boot_id, sizeof header->boot_id);
  __atomic_store_n(&header->magic, kFileMagic, __ATOMIC_RELEASE);
}

void LockForFork() {
  thread_has_lock = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  pthread_mutex_lock(&recording.lock);
  LockGrowth();
}

void UnlockInParent() {
  UnlockGrowth();
  pthread_mutex_unlock(&recording.lock);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread_has_lock = false;
}

// Only marks: a child that calls exec at once should not leave a file behind.
void MarkChild() {
  pthread_mutex_init(&recording.lock, nullptr);
  ResetGrowthInChild();
  ForgetThreads();
  recording.helper.Forget();
  interrupted = 0;
  recording.forked = recording.open;
  thread_has_lock = false;
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

// Unmaps what no thread can be inside of any more. Nobody is inside a recording that was closed
// before everybody was seen outside, so earlier ones go with it. More than kMaxRetired that a
// thread is stuck in are kept for good.
void Retire(FileSink& file, bool outside) {
  if (!outside) {
    if (retired_count < kMaxRetired) retired[retired_count++] = file;
    return;
  }
  file.Unmap();
  while (retired_count != 0) retired[--retired_count].Unmap();
}

// Names are only added to: writing them again could lose them.
void SaveAll() {
  if (recording.file.mapped()) return;
  recording.dictionary.Save();
  for (uint64_t i = 0; i < recording.pool.used(); ++i) {
    const ChunkHeader* chunk = recording.file.chunk(i);
    if (chunk->kind == ChunkKind::kThread) recording.file.Save(chunk, 0);
  }
  recording.file.SaveHeader();
}

int StartHelper() {
  if ((recording.options.flags & DBR_NO_HELPER) != 0) return 0;
  const int error = recording.helper.Start(&recording.file, recording.options.sync_seconds);
  recording.helper.Ask(1, nullptr, 0);
  // Only who asked for a sync cannot do without.
  return recording.options.sync_seconds != 0 ? error : 0;
}

}  // namespace

int OpenRecording(const char* path, uint32_t parent_pid) {
  RegisterForkOnce();
  if (!PrepareThreads()) return EAGAIN;
  const bool mapped = (recording.options.flags & DBR_NO_MAPPING) == 0;
  int error = recording.file.Open(path, recording.max_chunks, mapped);
  if (error != 0) return error;
  FillHeader(recording.file.header(), parent_pid);
  const auto policy = static_cast<Policy>(recording.options.policy);
  error = recording.file.SaveHeader();
  if (error == 0 && !recording.pool.Open(&recording.file, recording.max_chunks, policy)) {
    error = ENOMEM;
  }
  if (error == 0) error = StartHelper();
  if (error == 0) return 0;
  recording.pool.Close();
  recording.file.Close(0);
  recording.file.Unmap();
  return error;
}

namespace {

// A child that cannot have a file records nothing.
void CloseChild(bool opened) {
  if (opened) return CloseRecording();
  __atomic_store_n(&dbr_on, 0, __ATOMIC_RELAXED);
  recording.open = false;
  recording.dictionary.Close();
}

}  // namespace

// The child has one thread, which forgot the parent's chunk: nobody is inside the parent's mapping.
bool EnsureOwnFile() {
  if (!recording.open) return false;
  if (!recording.forked) return true;
  recording.forked = false;
  FileSink parent = recording.file;
  const uint32_t parent_pid = parent.header()->pid;
  recording.pool.Close();
  const bool opened = AppendPid(recording.path, sizeof recording.path) &&
                      OpenRecording(recording.path, parent_pid) == 0;
  const bool moved = opened && recording.dictionary.MoveTo(&recording.pool);
  parent.Forget();
  if (!moved) CloseChild(opened);
  return moved;
}

void CloseRecording() {
  __atomic_store_n(&dbr_on, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&recording_number, recording_number + 1, __ATOMIC_RELAXED);
  recording.open = false;
  if (recording.forked) {
    recording.file.Forget();
  } else {
    recording.helper.Stop();
    FoldInterrupted();
    const bool outside = WaitUntilOutside();
    recording.file.header()->closed = kClosed;
    SaveAll();
    recording.file.Close(recording.pool.used());
    Retire(recording.file, outside);
  }
  recording.forked = false;
  recording.pool.Close();
  recording.dictionary.Close();
}

void FoldInterrupted() {
  const uint64_t count = __atomic_exchange_n(&interrupted, 0, __ATOMIC_RELAXED);
  if (count != 0) __atomic_fetch_add(&recording.file.header()->dropped, count, __ATOMIC_RELAXED);
}

void SaveChunk(const ChunkHeader* chunk, uint32_t records) {
  if (recording.file.mapped()) return;
  recording.dictionary.Save();
  const int error = recording.file.Save(chunk, 0);
  FileHeader* header = recording.file.header();
  if (error != 0) {
    header->stopped = static_cast<uint64_t>(error);
    __atomic_fetch_add(&header->dropped, records, __ATOMIC_RELAXED);
  }
  recording.file.SaveHeader();
}

}  // namespace debrief::recorder
