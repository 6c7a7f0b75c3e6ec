// Programs that die while they record, and what is found afterwards.
//
//   recorder_kill kill|abort|fork|full FOLDER TRIALS
//
// A child counts what it published in a mapping of its own, after each record; the file must hold
// exactly that, or one more when death came between record and count. Prints one line; ends with 1
// when anything is lost or malformed.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "debrief/recorder.h"
#include "recorder/reader.h"

using namespace debrief::recorder;

namespace {

constexpr uint64_t kThreads = 4;
constexpr uint64_t kNameEvery = 512;  // each so many records get a new string as their device

struct Shared {
  uint64_t published[kThreads];
  uint64_t child_pid;
  uint64_t dropped;
  uint64_t overwritten;
  int stopped;
};

std::string WorkerName(uint64_t worker) { return "worker " + std::to_string(worker); }
std::string DeviceName(uint64_t worker, uint64_t at) {
  return "device " + std::to_string(worker) + " of " + std::to_string(at / kNameEvery);
}

dbr_id Name(const std::string& text) { return dbr_name(text.data(), text.size()); }

// Records [from, to); `to` may be far beyond what a life allows.
void Work(uint64_t worker, uint64_t from, uint64_t to, uint64_t abort_at, Shared* shared) {
  const dbr_id name = Name(WorkerName(worker));
  for (uint64_t i = from; i < to; ++i) {
    if (i % kNameEvery == 0) dbr_set_device(Name(DeviceName(worker, i)));
    dbr_span(name, i, i + (i & 1023));
    __atomic_store_n(&shared->published[worker], i + 1, __ATOMIC_RELEASE);
    if (i == abort_at) abort();
  }
}

void OpenOrExit(const std::string& path, uint32_t policy, uint64_t bytes) {
  dbr_options options;
  dbr_options_init(&options);
  options.policy = policy;
  options.max_bytes = bytes;
  dbr_recording* recording;
  if (dbr_open(path.c_str(), &options, &recording) != DBR_OK) _exit(3);
}

[[noreturn]] void WorkUntilDeath(const std::string& path, uint64_t abort_at, Shared* shared) {
  OpenOrExit(path, DBR_STOP, uint64_t{512} << 20);
  std::vector<std::thread> threads;
  for (uint64_t worker = 0; worker < kThreads; ++worker) {
    threads.emplace_back(Work, worker, 0, UINT64_MAX, worker == 0 ? abort_at : UINT64_MAX, shared);
  }
  for (std::thread& thread : threads) thread.join();
  _exit(4);
}

// Counts the records of every worker and compares each with what was written there.
class Verifier : public RecordSink {
 public:
  void OnRecord(const RecordView& record) override {
    records.push_back({record, record.values[0], record.values[1]});
  }
  struct Kept {
    RecordView view;
    uint64_t start, duration;
  };
  std::vector<Kept> records;
};

struct Found {
  uint64_t count[kThreads] = {};
  uint64_t wrong = 0;
  uint64_t dropped = 0;
};

std::vector<std::byte> ReadFile(const std::string& path) {
  std::vector<std::byte> bytes;
  if (FILE* file = fopen(path.c_str(), "rb")) {
    fseek(file, 0, SEEK_END);
    bytes.resize(static_cast<size_t>(ftell(file)));
    rewind(file);
    bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
    fclose(file);
  }
  return bytes;
}

// `from`: what the first record of a worker counts.
Found Check(const std::string& path, uint64_t from, bool whole) {
  Found found;
  Verifier sink;
  const std::vector<std::byte> bytes = ReadFile(path);
  const ReadRecording recording = ReadDbr(bytes, sink);
  found.wrong = recording.problems.size() + (recording.ok ? 0 : 1);
  found.dropped = recording.dropped;
  for (const Verifier::Kept& kept : sink.records) {
    if (kept.view.type == RecordType::kLoss) continue;
    const std::string* name = recording.Text(kept.view.name);
    const std::string* device = recording.Text(kept.view.track);
    const uint64_t worker =
        name != nullptr && name->size() == 8 ? static_cast<uint64_t>((*name)[7] - '0') : kThreads;
    if (worker >= kThreads) {
      ++found.wrong;
      continue;
    }
    const bool named = device != nullptr && *device == DeviceName(worker, kept.start);
    const bool placed = !whole || kept.start == from + found.count[worker];
    if (!named || !placed || kept.duration != (kept.start & 1023)) ++found.wrong;
    ++found.count[worker];
  }
  return found;
}

struct Total {
  uint64_t trials = 0, published = 0, recovered = 0, lost = 0, wrong = 0;
};

void Compare(const Found& found, const Shared& shared, Total* total) {
  ++total->trials;
  total->wrong += found.wrong + found.dropped;
  for (uint64_t worker = 0; worker < kThreads; ++worker) {
    const uint64_t published = shared.published[worker];
    total->published += published;
    total->recovered += found.count[worker];
    if (found.count[worker] < published) total->lost += published - found.count[worker];
    if (found.count[worker] > published + 1) ++total->wrong;
  }
}

pid_t Start(auto&& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    body();
    _exit(0);
  }
  return pid;
}

void Deaths(const std::string& path, bool by_abort, uint64_t trials, Shared* shared, Total* total) {
  std::mt19937_64 random(by_abort ? 17 : 18);
  // A kill before the first record says nothing; it is tried again.
  for (uint64_t trial = 0; total->trials < trials && trial < 10 * trials; ++trial) {
    *shared = {};
    const uint64_t abort_at = by_abort ? random() % 100'000 : UINT64_MAX;
    const pid_t pid = Start([&] { WorkUntilDeath(path, abort_at, shared); });
    if (!by_abort) {
      usleep(static_cast<useconds_t>(random() % 20'000));
      kill(pid, SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (!WIFSIGNALED(status)) ++total->wrong;
    if (access(path.c_str(), F_OK) != 0) continue;  // killed before it could open
    const bool opened =
        shared->published[0] + shared->published[1] + shared->published[2] + shared->published[3] !=
        0;
    if (opened) Compare(Check(path, 0, true), *shared, total);
    unlink(path.c_str());
  }
}

void Forks(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Shared* of_child = shared + 1;
  for (uint64_t trial = 0; trial < trials; ++trial) {
    shared[0] = shared[1] = {};
    const pid_t pid = Start([&] {
      OpenOrExit(path, DBR_STOP, 8 << 20);
      Work(0, 0, 10'240, UINT64_MAX, shared);
      const pid_t child = fork();
      if (child == 0) of_child->child_pid = static_cast<uint64_t>(getpid());
      Work(0, 10'240, 20'000 + trial, UINT64_MAX, child == 0 ? of_child : shared);
      if (child != 0) waitpid(child, nullptr, 0);
      kill(getpid(), SIGKILL);
    });
    waitpid(pid, nullptr, 0);
    const std::string child_path = path + "." + std::to_string(of_child->child_pid);
    Compare(Check(path, 0, true), *shared, total);
    Found of_fork = Check(child_path, 10'240, true);
    of_fork.count[0] += 10'240;  // those are the parent's
    Compare(of_fork, *of_child, total);
    unlink(path.c_str());
    unlink(child_path.c_str());
  }
}

// On a disk smaller than the budget the program goes on and every record is written or counted.
void FullDisk(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const pid_t pid = Start([&] {
      OpenOrExit(path, trial % 2 == 0 ? DBR_STOP : DBR_RING, 64 << 20);
      Work(0, 0, 400'000, UINT64_MAX, shared);
      const dbr_losses losses = dbr_get_losses(nullptr);
      shared->dropped = losses.dropped;
      shared->overwritten = losses.overwritten;
      shared->stopped = losses.stopped;
    });
    int status = 0;
    waitpid(pid, &status, 0);
    const Found found = Check(path, 0, trial % 2 == 0);
    ++total->trials;
    total->published += shared->published[0];
    total->recovered += found.count[0];
    const uint64_t accounted = found.count[0] + shared->dropped + shared->overwritten;
    if (status != 0 || shared->stopped != ENOSPC || accounted != 400'000) ++total->lost;
    total->wrong += found.wrong;
    unlink(path.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[1], path = std::string(argv[2]) + "/run.dbr";
  const uint64_t trials = strtoull(argv[3], nullptr, 10);
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 2;
  auto* shared = static_cast<Shared*>(memory);
  Total total;
  if (kind == "kill" || kind == "abort") Deaths(path, kind == "abort", trials, shared, &total);
  if (kind == "fork") Forks(path, trials, shared, &total);
  if (kind == "full") FullDisk(path, trials, shared, &total);
  printf("recorder %s: %llu trials, %llu published, %llu recovered, %llu lost, %llu wrong\n",
         kind.c_str(), static_cast<unsigned long long>(total.trials),
         static_cast<unsigned long long>(total.published),
         static_cast<unsigned long long>(total.recovered),
         static_cast<unsigned long long>(total.lost), static_cast<unsigned long long>(total.wrong));
  return total.lost == 0 && total.wrong == 0 && total.trials >= trials ? 0 : 1;
}
