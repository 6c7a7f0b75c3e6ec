#include "recorder/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace debrief::recorder {
namespace {

// 256 KiB at a time: some file systems fill what they allocate with zeros, at 0.3 ms a MiB.
constexpr uint64_t kSegmentChunks = 4;

constinit pthread_mutex_t growth = PTHREAD_MUTEX_INITIALIZER;

uint64_t FileBytes(uint64_t chunks) { return kFileHeaderBytes + chunks * kChunkBytes; }

// Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends a program.
bool AboveLimit(uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace

void LockGrowth() { pthread_mutex_lock(&growth); }
void UnlockGrowth() { pthread_mutex_unlock(&growth); }
void ResetGrowthInChild() { pthread_mutex_init(&growth, nullptr); }

int FileSink::Open(const char* path, uint64_t max_chunks, bool mapped) {
  if (unlink(path) != 0 && errno != ENOENT) return errno;
  *this = FileSink();
  fd_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) return errno;
  max_chunks_ = max_chunks;
  bytes_ = FileBytes(max_chunks);
  shared_ = mapped;
  int error = Map();
  if (error == 0) error = EnsureChunks(1);
  if (error == 0) return 0;
  if (base_ != nullptr) Unmap();
  close(fd_);
  fd_ = -1;
  unlink(path);
  return error;
}

int FileSink::Map() {
  constexpr int kRights = PROT_READ | PROT_WRITE;
  void* base = MAP_FAILED;
  if (shared_) base = mmap(nullptr, bytes_, kRights, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED && (!shared_ || errno == ENODEV || errno == EACCES || errno == EINVAL)) {
    shared_ = false;
    base = mmap(nullptr, bytes_, kRights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  if (base == MAP_FAILED) return errno;
  base_ = static_cast<char*>(base);
  return 0;
}

int FileSink::EnsureChunks(uint64_t count) {
  if (FileBytes(count) <= __atomic_load_n(&allocated_, __ATOMIC_ACQUIRE)) return 0;
  LockGrowth();
  const uint64_t rounded = (count + kSegmentChunks - 1) / kSegmentChunks * kSegmentChunks;
  int error = GrowTo(FileBytes(rounded < max_chunks_ ? rounded : max_chunks_));
  // A nearly full disk may still have room for the one chunk.
  if (error != 0) error = GrowTo(FileBytes(count));
  UnlockGrowth();
  return error;
}

// Without a mapping a hole does: what does not fit shows when it is written.
int FileSink::Lengthen(uint64_t bytes) const {
  if (!shared_) return ftruncate(fd_, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  return posix_fallocate(fd_, static_cast<off_t>(allocated_),
                         static_cast<off_t>(bytes - allocated_));
}

int FileSink::GrowTo(uint64_t bytes) {
  if (bytes <= allocated_) return 0;
  if (AboveLimit(bytes)) return EFBIG;
  int error = EINTR;
  while (error == EINTR) error = Lengthen(bytes);
  if (error == 0) __atomic_store_n(&allocated_, bytes, __ATOMIC_RELEASE);
  return error;
}

bool FileSink::TouchNext(uint64_t count) {
  const uint64_t next = touched_;
  if (next >= count || next >= max_chunks_ || EnsureChunks(next + 1) != 0) return false;
  if (shared_) Touch(chunk(next), kChunkBytes);
  __atomic_store_n(&touched_, next + 1, __ATOMIC_RELEASE);
  return true;
}

void FileSink::Touch([[maybe_unused]] void* at, [[maybe_unused]] size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  const int saved = errno;
  madvise(at, bytes, MADV_POPULATE_WRITE);  // a kernel that cannot do it faults later
  errno = saved;
#endif
}

void FileSink::Sync() const { fdatasync(fd_); }

void FileSink::CopyHeader(FileHeader* copy) const {
  memset(copy, 0, kFileHeaderBytes);
  *copy = {};
  const FileHeader* from = header();
  memcpy(copy, from, offsetof(FileHeader, chunks));
  copy->chunks = __atomic_load_n(&from->chunks, __ATOMIC_ACQUIRE);
  copy->dropped = __atomic_load_n(&from->dropped, __ATOMIC_RELAXED);
  constexpr size_t kRest = offsetof(FileHeader, lost_names);
  memcpy(reinterpret_cast<char*>(copy) + kRest, reinterpret_cast<const char*>(from) + kRest,
         sizeof *copy - kRest);
}

int FileSink::Write(const void* bytes, size_t count, uint64_t offset) const {
  const char* at = static_cast<const char*>(bytes);
  if (AboveLimit(offset + count)) return EFBIG;
  while (count != 0) {
    const ssize_t done = pwrite(fd_, at, count, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    at += done;
    count -= static_cast<size_t>(done);
    offset += static_cast<uint64_t>(done);
  }
  return 0;
}

// Empty, then the records, then how many they are: whenever the process dies in between, the chunk
// is one or the other. What is in the file already stays as it is.
int FileSink::Save(const ChunkHeader* chunk, uint64_t saved) const {
  if (shared_) return 0;
  const uint64_t offset = kFileHeaderBytes + IndexOf(chunk) * kChunkBytes;
  const uint64_t published = PublishedIn(chunk->head);
  ChunkHeader header = *chunk;
  header.head = HeadWord(OverwrittenIn(chunk->head), 0);
  int error = saved == 0 ? Write(&header, sizeof header, offset) : 0;
  const char* payload = reinterpret_cast<const char*>(chunk + 1);
  if (error == 0) error = Write(payload + saved, published - saved, offset + sizeof header + saved);
  header.head = chunk->head;
  return error == 0 ? Write(&header, sizeof header, offset) : error;
}

int FileSink::SaveHeader() const {
  if (shared_) return 0;
  alignas(FileHeader) char copy[kFileHeaderBytes];
  CopyHeader(reinterpret_cast<FileHeader*>(copy));
  return Write(copy, sizeof copy, 0);
}

void FileSink::Close(uint64_t used_chunks) {
  if (fd_ < 0) return;
  // Chunks that were handed out are never cut: a late record may still be on its way to one.
  if (ftruncate(fd_, static_cast<off_t>(FileBytes(used_chunks))) == 0) {
    allocated_ = FileBytes(used_chunks);
  }
  close(fd_);
  fd_ = -1;
}

void FileSink::Forget() {
  close(fd_);
  fd_ = -1;
  Unmap();
}

void FileSink::Unmap() {
  munmap(base_, bytes_);
  base_ = nullptr;
}

}  // namespace debrief::recorder
