#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <atomic>
#include <set>
#include <thread>

namespace debrief::recorder::test {
namespace {

constexpr uint64_t kForkAt = 5'000;
constexpr uint64_t kHandled = 200, kUnderSignals = 4'000'000;  // enough of one, most of the other
constexpr uint64_t kShortThreads = 10'000, kAtOnce = 8;

// Records [from, to) and counts them.
void Work(Writer& writer, uint64_t from, uint64_t to, uint64_t* published) {
  for (uint64_t i = from; i < to; ++i) {
    writer.Write(i);
    __atomic_store_n(published, i + 1, __ATOMIC_RELEASE);
  }
}

void Add(const Found& found, uint64_t published, Total* total) {
  total->wrong += found.wrong + found.strange;
  total->published += published;
  total->recovered += found.total();
}

bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

uint64_t Lines(const char* path) {
  uint64_t lines = 0;
  if (FILE* file = fopen(path, "r")) {
    for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
    fclose(file);
  }
  return lines;
}

uint64_t ResidentPages() {
  unsigned long long all = 0, resident = 0;
  if (FILE* file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%llu %llu", &all, &resident) != 2) resident = 0;
    fclose(file);
  }
  return resident;
}

// Worker 0 forks in the middle; workers 1 to 3 record all the time, in the parent only.
void ForkInTheMiddle(const std::string& path, uint64_t more, Shared* shared) {
  OpenOrExit(path, {.bytes = 64 << 20});
  std::vector<std::thread> threads;
  for (uint64_t worker = 1; worker < 4; ++worker) {
    threads.emplace_back([=] {
      Writer writer(worker, Load::kMixed);
      Work(writer, 0, 20'000, &shared->published[worker]);
    });
  }
  Writer writer(0, Load::kMixed);
  Work(writer, 0, kForkAt, &shared->published[0]);
  const pid_t child = fork();
  if (child == 0) {
    shared->child_pid = static_cast<uint64_t>(getpid());
    Work(writer, kForkAt, kForkAt + more, &shared->of_child[0]);
    kill(getpid(), SIGKILL);
  }
  Work(writer, kForkAt, kForkAt + more, &shared->published[0]);
  for (std::thread& thread : threads) thread.join();
  Wait(child);
  kill(getpid(), SIGKILL);
}

void OnFullDisk(const std::string& path, const Options& options, Shared* shared) {
  dbr_recording* recording = OpenOrExit(path, options);
  Writer writer(0, Load::kMixed);
  Work(writer, 0, 150'000, &shared->published[0]);
  if ((options.flags & DBR_NO_MAPPING) == 0) {
    shared->losses = dbr_get_losses(recording);
    return;
  }
  dbr_close(recording);  // the last chunk is written now
}

void OneOfTenThousand(uint64_t index, std::atomic<uint64_t>* published) {
  Writer writer(index, Load::kMixed);
  for (uint64_t i = 0; i < 3; ++i) writer.Write(i);
  *published += 3;
}

Shared* handler_counts;
dbr_id handler_device;

// A look-up takes the lock, which the interrupted thread may have; the record has its own device.
void Handle(int) {
  dbr_name("handler", 7);
  dbr_alloc(handler_device, 1, 2);
  __atomic_fetch_add(&handler_counts->handled, 1, __ATOMIC_RELAXED);
}

void WorkUnderSignals(const std::string& path, Load load, Shared* shared) {
  OpenOrExit(path, {});
  handler_device = dbr_name("handler", 7);
  struct sigaction action = {};
  action.sa_handler = Handle;
  sigaction(SIGALRM, &action, nullptr);
  // A timer, not a thread: on a busy machine another thread may not get to run at all. Much oftener
  // than this nothing but handlers would run.
  const itimerval often = {{0, 100}, {0, 100}}, never = {};
  setitimer(ITIMER_REAL, &often, nullptr);
  Writer writer(0, load);
  for (uint64_t i = 0; i < kUnderSignals && shared->handled < kHandled; i += 1'000) {
    Work(writer, i, i + 1'000, &shared->published[0]);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  shared->losses = dbr_get_losses(nullptr);
  kill(getpid(), SIGKILL);
}

void ReopenUnderThreads(const std::string& path, uint64_t times, Shared* shared) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (uint64_t at = 0; !done; ++at) dbr_span(at % 4096 == 0 ? dbr_name("again", 5) : 0, 1, 2);
    });
  }
  for (uint64_t i = 0; i < times; ++i) {
    dbr_recording* recording = OpenOrExit(path, {.policy = DBR_RING, .bytes = 600'000});
    for (int span = 0; span < 20; ++span) dbr_span(0, 3, 4);
    if (dbr_close(recording) != DBR_OK) _exit(12);
    if (i == times / 10) {
      shared->maps_before = Lines("/proc/self/maps");
      shared->pages_before = ResidentPages();
    }
    shared->published[0] += 20;
  }
  shared->maps_after = Lines("/proc/self/maps");
  shared->pages_after = ResidentPages();
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// What stands where the file of a forked child would be cannot be unlinked.
void RecordInReadOnlyFolder(const std::string& path, Shared* shared) {
  if (geteuid() == 0 && setuid(65534) != 0) _exit(6);  // rights do not bind root
  dbr_recording* none = nullptr;
  const std::string locked = path + ".locked";
  if (mkdir(locked.c_str(), 0555) != 0) _exit(8);
  if (dbr_open((locked + "/run.dbr").c_str(), nullptr, &none) != DBR_IO || errno != EACCES) {
    _exit(7);
  }
  rmdir(locked.c_str());
  dbr_span(0, 1, 2);
  OpenOrExit(path, {.bytes = 8 << 20});
  Writer writer(0, Load::kMixed);
  Work(writer, 0, 1'000, &shared->published[0]);
  const pid_t child = fork();
  if (child == 0) {
    if (mkdir((path + "." + std::to_string(getpid())).c_str(), 0755) != 0) _exit(9);
    Work(writer, 1'000, 2'000, &shared->of_child[0]);
    _exit(__atomic_load_n(&dbr_on, __ATOMIC_RELAXED) == 0 && dbr_name("x", 1) == 0 ? 0 : 10);
  }
  Work(writer, 1'000, 2'000, &shared->published[0]);
  const int status = Wait(child);
  rmdir((path + "." + std::to_string(child)).c_str());
  if (status != 0) _exit(11);
}

void RunManyThreads(const std::string& path, const Options& options, Shared* shared) {
  OpenOrExit(path, options);
  std::atomic<uint64_t> published = 0;
  for (uint64_t i = 0; i < kShortThreads; i += kAtOnce) {
    std::thread threads[kAtOnce];
    for (uint64_t t = 0; t < kAtOnce; ++t) {
      threads[t] = std::thread(OneOfTenThousand, i + t, &published);
    }
    for (std::thread& thread : threads) thread.join();
  }
  shared->published[0] = published;
  kill(getpid(), SIGKILL);
}

}  // namespace

void Forks(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const uint64_t more = 3'000 + trial;
    Wait(Start([&] { ForkInTheMiddle(path, more, shared); }));
    const std::string child_path = path + "." + std::to_string(shared->child_pid);
    const Found parent = VerifyFile(path, 4, Load::kMixed, 0);
    const Found child = VerifyFile(child_path, 4, Load::kMixed, kForkAt);
    ++total->trials;
    Add(parent, shared->total(), total);
    Add(child, shared->of_child[0] - kForkAt, total);
    for (uint64_t i = 0; i < 4; ++i) {
      if (parent.workers[i].count != shared->published[i]) ++total->lost;
      if (child.workers[i].count != (i == 0 ? more : 0)) ++total->lost;
    }
    total->wrong += parent.dropped + child.dropped;
    unlink(path.c_str());
    unlink(child_path.c_str());
  }
}

void ForkAndExec(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const int status = Wait(Start([&] {
      OpenOrExit(path, {.bytes = 8 << 20});
      Writer writer(0, Load::kMixed);
      Work(writer, 0, 1'000, &shared->published[0]);
      const pid_t child = fork();
      if (child == 0) execl("/bin/true", "true", static_cast<char*>(nullptr));
      shared->child_pid = static_cast<uint64_t>(child);
      Work(writer, 1'000, 2'000, &shared->published[0]);
      if (Wait(child) != 0) _exit(5);
    }));
    const Found found = VerifyFile(path, 1, Load::kMixed, 0);
    ++total->trials;
    Add(found, shared->total(), total);
    if (status != 0 || found.total() != 2'000) ++total->lost;
    if (Exists(path + "." + std::to_string(shared->child_pid))) ++total->wrong;
    unlink(path.c_str());
  }
}

// Stop and ring in turn, then both without a mapping; there a full disk shows when chunks are
// saved, so only what is in the file and well formed is compared.
void FullDisk(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const bool mapped = trial % 4 < 2;
    const Options options = {.policy = trial % 2 == 0 ? DBR_STOP : DBR_RING,
                             .bytes = 64 << 20,
                             .flags = mapped ? 0u : uint32_t{DBR_NO_MAPPING}};
    const int status = Wait(Start([&] { OnFullDisk(path, options, shared); }));
    const Found found = VerifyFile(path, 1, Load::kMixed, options.policy == DBR_RING ? kAny : 0);
    ++total->trials;
    Add(found, shared->total(), total);
    const dbr_losses& losses = shared->losses;
    const uint64_t accounted = found.total() + losses.dropped + losses.overwritten;
    const bool told = losses.stopped == ENOSPC && accounted == 150'000;
    if (status != 0 || found.total() == 0 || (mapped && !told)) ++total->lost;
    unlink(path.c_str());
  }
}

void ReadOnly(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  chmod(path.substr(0, path.rfind('/')).c_str(), 0777);
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const int status = Wait(Start([&] { RecordInReadOnlyFolder(path, shared); }));
    const Found found = VerifyFile(path, 1, Load::kMixed, 0);
    ++total->trials;
    Add(found, shared->total(), total);
    if (status != 0 || found.total() != 2'000) ++total->lost;
    unlink(path.c_str());
  }
}

void Churn(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const Options options = {.policy = trial % 2 == 0 ? DBR_STOP : DBR_RING, .bytes = 4 << 20};
    const int status = Wait(Start([&] { RunManyThreads(path, options, shared); }));
    const Found found = VerifyFile(path, kShortThreads, Load::kMixed, 0);
    ++total->trials;
    Add(found, shared->total(), total);
    if (!WIFSIGNALED(status) || found.total() != kShortThreads * 3) ++total->lost;
    total->wrong += found.dropped + found.overwritten;
    std::set<uint32_t> tids;  // the kernel may use one again, but not half of them
    for (const Worker& worker : found.workers) {
      total->wrong += worker.count == 3 ? 0 : 1;
      tids.insert(worker.tid);
    }
    if (tids.size() < kShortThreads / 2) ++total->wrong;
    unlink(path.c_str());
  }
}

// A record of the handler is in the file or counted; of the thread's own none is missing.
void Signals(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  handler_counts = shared;
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const Load load = trial % 2 == 0 ? Load::kMixed : Load::kNames;
    Wait(Start([&] { WorkUnderSignals(path, load, shared); }));
    const Found found = VerifyFile(path, 1, load, 0);
    ++total->trials;
    total->published += shared->total() + shared->handled;
    total->recovered += found.total() + found.strange + found.dropped;
    total->wrong += found.wrong + (shared->handled < kHandled ? 1 : 0);
    if (found.total() != shared->total()) ++total->lost;
    if (found.strange + found.dropped != shared->handled) ++total->lost;
    unlink(path.c_str());
  }
}

// The threads record under no device, so the 20 spans and theirs are records of nobody.
void Reopen(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  *shared = {};
  const int status = Wait(Start([&] { ReopenUnderThreads(path, trials, shared); }));
  const Found last = VerifyFile(path, 1, Load::kMixed, 0);
  total->trials = trials;
  total->published = shared->total();
  total->recovered = last.strange;
  total->wrong = last.wrong + (last.closed ? 0 : 1) + (status == 0 ? 0 : 1);
  if (last.strange < 20) ++total->lost;
  if (shared->maps_after > shared->maps_before + 8) ++total->wrong;
  if (shared->pages_after > shared->pages_before + 512) ++total->wrong;
  unlink(path.c_str());
}

}  // namespace debrief::recorder::test
