#include "recorder/file_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace debrief::recorder {
namespace {

constexpr uint64_t kSegmentChunks = 16;  // 1 MiB at a time

uint64_t FileBytes(uint64_t chunks) { return kFileHeaderBytes + chunks * kChunkBytes; }

// Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends a program.
bool AboveLimit(uint64_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         bytes > limit.rlim_cur;
}

}  // namespace

int FileSink::Open(const char* path, uint64_t max_chunks) {
  if (unlink(path) != 0 && errno != ENOENT) return errno;
  fd_ = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) return errno;
  max_chunks_ = max_chunks;
  allocated_ = 0;
  mapped_ = FileBytes(max_chunks);
  void* base = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  int error = base == MAP_FAILED ? errno : 0;
  if (error == 0) {
    base_ = static_cast<char*>(base);
    error = EnsureChunks(1);
    if (error != 0) munmap(base, mapped_);
  }
  if (error != 0) {
    base_ = nullptr;
    close(fd_);
    fd_ = -1;
    unlink(path);
  }
  return error;
}

int FileSink::EnsureChunks(uint64_t count) {
  if (FileBytes(count) <= allocated_) return 0;
  const uint64_t rounded = (count + kSegmentChunks - 1) / kSegmentChunks * kSegmentChunks;
  const int error = GrowTo(FileBytes(rounded < max_chunks_ ? rounded : max_chunks_));
  // A nearly full disk may still have room for the one chunk.
  return error == 0 ? 0 : GrowTo(FileBytes(count));
}

int FileSink::GrowTo(uint64_t bytes) {
  if (AboveLimit(bytes)) return EFBIG;
  int error = EINTR;
  while (error == EINTR) {
    error = posix_fallocate(fd_, static_cast<off_t>(allocated_),
                            static_cast<off_t>(bytes - allocated_));
  }
  if (error != 0) return error;
#ifdef MADV_POPULATE_WRITE
  // Page faults now rather than in the middle of what is measured; without it they come later.
  const int saved = errno;
  madvise(base_ + allocated_ / 4096 * 4096, bytes - allocated_ / 4096 * 4096, MADV_POPULATE_WRITE);
  errno = saved;
#endif
  allocated_ = bytes;
  return 0;
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

void FileSink::Detach() {
  close(fd_);
  fd_ = -1;
  mmap(base_, mapped_, PROT_READ | PROT_WRITE,
       MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

}  // namespace debrief::recorder
