// Death at every instruction: a program is single-stepped through a record, and after each
// instruction the file is read as a kill there would leave it.
//
//   recorder_step FOLDER
//
// The mapping of a process that is stopped between two instructions is what the kernel would keep
// of it, so one pass shows every possible moment. Stepped are all kinds of records, the change to a
// fresh chunk and to one that the ring takes back, new names and chunks of names, a chunk that
// another thread left, and the first record after a fork. Prints a line a case; ends with 77 where
// tracing is not allowed.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "content.h"

using namespace debrief::recorder;
using namespace debrief::recorder::test;

namespace {

constexpr uint64_t kRange = uint64_t{64} << 20;

struct Case {
  const char* name;
  Load load;
  uint32_t policy;
  uint64_t chunks;
  uint64_t change;     // step through the record that takes this chunk; 0: through the first ones
  uint64_t stepped;    // records
  bool left_by_other;  // another thread, worker 1, records first and ends
  uint64_t every;      // look after so many instructions
};

constexpr uint64_t kUntilDropped = ~uint64_t{0};

constexpr Case kCases[] = {
    {"every kind", Load::kMixed, DBR_STOP, 16, 0, 50, false, 1},
    {"next chunk", Load::kMixed, DBR_STOP, 64, 4, 3, false, 1},
    {"chunk taken back", Load::kMixed, DBR_RING, 8, 20, 3, false, 1},
    {"chunk taken back by a long record", Load::kLong, DBR_RING, 8, 20, 2, false, 7},
    {"chunk of a thread that ended", Load::kMixed, DBR_STOP, 16, 0, 3, true, 1},
    {"new names", Load::kNames, DBR_STOP, 16, 0, 12, false, 1},
    {"next chunk of names", Load::kNames, DBR_STOP, 64, 4, 3, false, 1},
    {"no chunk is left", Load::kMixed, DBR_STOP, 8, kUntilDropped, 4, false, 1},
};

void Open(const Case& c, const std::string& path) {
  dbr_options options;
  dbr_options_init(&options);
  options.policy = c.policy;
  options.max_bytes = 4096 + c.chunks * 65536;
  dbr_recording* recording;
  if (dbr_open(path.c_str(), &options, &recording) != DBR_OK) _exit(3);
}

// How many chunks were handed out, the same one again included.
uint64_t ChunksTaken(int fd, uint64_t chunks) {
  uint64_t taken = 0, sequence = 0;
  for (uint64_t i = 0; i < chunks; ++i) {
    const uint64_t at = kFileHeaderBytes + i * kChunkBytes + offsetof(ChunkHeader, sequence);
    if (pread(fd, &sequence, 8, static_cast<off_t>(at)) == 8 && sequence > taken) taken = sequence;
  }
  return taken;
}

// The ordinal of the record that takes chunk `change`: the content is the same in every run.
uint64_t FindChange(const Case& c, const std::string& path) {
  Open(c, path);
  const int fd = open(path.c_str(), O_RDONLY);
  Writer writer(0, c.load);
  for (uint64_t i = 0;; ++i) {
    writer.Write(i);
    const bool there = c.change == kUntilDropped ? dbr_get_losses(nullptr).dropped != 0
                                                 : ChunksTaken(fd, c.chunks) >= c.change;
    if (there) return i;
  }
}

[[noreturn]] void Record(const Case& c, uint64_t before, const std::string& path,
                         uint64_t* published) {
  Open(c, path);
  if (c.left_by_other) {
    std::thread([&] {
      Writer other(1, c.load);
      for (uint64_t i = 0; i < 3; ++i) other.Write(i);
    }).join();
    __atomic_store_n(&published[1], 3, __ATOMIC_RELEASE);
  }
  Writer writer(0, c.load);
  for (uint64_t i = 0; i < before + c.stepped; ++i) {
    if (i == before) raise(SIGSTOP);
    writer.Write(i);
    __atomic_store_n(&published[0], i + 1, __ATOMIC_RELEASE);
  }
  _exit(0);
}

// Reads the file as it is now, through a mapping of its own.
class Observer {
 public:
  explicit Observer(const std::string& path) : fd_(open(path.c_str(), O_RDONLY)) {
    base_ = mmap(nullptr, kRange, PROT_READ, MAP_SHARED, fd_, 0);
  }
  ~Observer() {
    munmap(base_, kRange);
    close(fd_);
  }
  bool ok() const { return fd_ >= 0 && base_ != MAP_FAILED; }
  // What is read is a function of the published bytes, so it is read again only when they changed.
  const Found& Look(const Case& c) {
    struct stat info = {};
    fstat(fd_, &info);
    const auto* now = static_cast<const std::byte*>(base_);
    const auto size = static_cast<size_t>(info.st_size);
    if (size == last_.size() && SamePublished(now)) return found_;
    last_.assign(now, now + size);
    found_ = Verify(last_, 2, c.load, c.policy == DBR_RING ? kAny : 0);
    return found_;
  }

 private:
  bool SamePublished(const std::byte* now) const {
    if (memcmp(now, last_.data(), kFileHeaderBytes) != 0) return false;
    for (size_t at = kFileHeaderBytes; at + kChunkBytes <= last_.size(); at += kChunkBytes) {
      ChunkHeader chunk;
      memcpy(&chunk, last_.data() + at, sizeof chunk);
      const size_t used = sizeof chunk + PublishedIn(chunk.head);
      if (memcmp(now + at, last_.data() + at, used) != 0) return false;
    }
    return true;
  }

  int fd_;
  void* base_;
  std::vector<std::byte> last_;
  Found found_;
};

// What is there, overwritten or dropped is what was published, or one more.
bool IsRight(const Found& found, const uint64_t* published) {
  const uint64_t accounted = found.total() + found.overwritten + found.dropped;
  const uint64_t counted = published[0] + published[1];
  return found.wrong == 0 && found.strange == 0 && accounted >= counted && accounted <= counted + 1;
}

struct Seen {
  uint64_t instructions = 0, looks = 0, wrong = 0;
  bool finished = false;
};

Seen StepThrough(const Case& c, pid_t pid, const std::string& path, const uint64_t* published) {
  Seen seen;
  Observer observer(path);
  int status = 0;
  while (observer.ok() && ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) == 0 &&
         waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
    if (++seen.instructions % c.every != 0) continue;
    ++seen.looks;
    const Found& found = observer.Look(c);
    if (!IsRight(found, published) && seen.wrong++ == 0) {
      printf(
          "recorder step: after instruction %llu: %llu in the file, %llu overwritten, %llu "
          "dropped, %llu published, %llu wrong\n",
          static_cast<unsigned long long>(seen.instructions),
          static_cast<unsigned long long>(found.total()),
          static_cast<unsigned long long>(found.overwritten),
          static_cast<unsigned long long>(found.dropped),
          static_cast<unsigned long long>(published[0] + published[1]),
          static_cast<unsigned long long>(found.wrong));
    }
  }
  seen.finished = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return seen;
}

uint64_t FindChangeInChild(const Case& c, const std::string& path, uint64_t* found) {
  const pid_t pid = fork();
  if (pid == 0) {
    *found = FindChange(c, path);
    _exit(0);
  }
  waitpid(pid, nullptr, 0);
  return *found;
}

bool Run(const Case& c, const std::string& path, uint64_t* published) {
  // One record before the change, the change, and what comes after.
  const uint64_t before = c.change == 0 ? 0 : FindChangeInChild(c, path, published) - 1;
  published[0] = published[1] = 0;
  const pid_t pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(77);
    Record(c, before, path, published);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
    puts("recorder step: skipped, tracing is not allowed here");
    _exit(77);
  }
  const Seen seen = StepThrough(c, pid, path, published);
  unlink(path.c_str());
  const bool complete = seen.finished && published[0] == before + c.stepped;
  printf("recorder step, %s: %llu instructions, %llu looks, %llu wrong%s\n", c.name,
         static_cast<unsigned long long>(seen.instructions),
         static_cast<unsigned long long>(seen.looks), static_cast<unsigned long long>(seen.wrong),
         complete ? "" : ", not finished");
  return complete && seen.wrong == 0 && seen.looks > 100;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string path = std::string(argv[1]) + "/step.dbr";
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  bool good = true;
  for (const Case& c : kCases) good &= Run(c, path, static_cast<uint64_t*>(memory));
  return good ? 0 : 1;
}
