// Programs that die while they record, and what is found afterwards.
//
//   recorder_kill CASE FOLDER TRIALS
//
// A program counts what it published in a page that it shares with us, after each record; the file
// must hold exactly that, or one more of a thread whose death came between record and count. Prints
// one line; ends with 1 when anything is lost or malformed. The cases stand at the end.
#include <stdlib.h>
#include <string.h>

#include <random>
#include <thread>

#include "cases.h"
#include "trial.h"

namespace debrief::recorder::test {
namespace {

struct Life {
  uint64_t threads = 4;
  Load load = Load::kMixed;
  Options options;
  bool by_abort = false;
  useconds_t longest = 10'000;  // before the kill
};

void Work(uint64_t worker, Load load, uint64_t abort_at, Shared* shared) {
  Writer writer(worker, load);
  for (uint64_t i = 0;; ++i) {
    writer.Write(i);
    __atomic_store_n(&shared->published[worker], i + 1, __ATOMIC_RELEASE);
    if (i == abort_at) abort();
  }
}

[[noreturn]] void LiveUntilDeath(const std::string& path, const Life& life, uint64_t abort_at,
                                 Shared* shared) {
  OpenOrExit(path, life.options);
  std::vector<std::thread> threads;
  for (uint64_t worker = 0; worker < life.threads; ++worker) {
    threads.emplace_back(Work, worker, life.load, worker == 0 ? abort_at : kAny, shared);
  }
  for (std::thread& thread : threads) thread.join();
  _exit(4);
}

void CompareWorker(const Worker& found, uint64_t published, Total* total) {
  const uint64_t end = found.first + found.count;
  if (end < published) total->lost += published - end;
  if (end > published + 1) ++total->wrong;
}

// Stop: all from the first on. Ring: the last of every thread, and the others are counted.
void Compare(const Found& found, const Shared& shared, const Life& life, Total* total) {
  ++total->trials;
  total->wrong += found.wrong + found.dropped + found.strange;
  total->published += shared.total();
  total->recovered += found.total() + found.overwritten;
  const bool ring = life.options.policy == DBR_RING;
  for (uint64_t i = 0; i < life.threads; ++i) {
    const Worker& worker = found.workers[i];
    // All of a thread may be overwritten, or what is left carries no ordinal.
    if (!ring || worker.first != kAny) CompareWorker(worker, shared.published[i], total);
  }
  if (!ring && found.overwritten != 0) ++total->wrong;
  const uint64_t accounted = found.total() + found.overwritten;
  if (accounted < shared.total()) total->lost += shared.total() - accounted;
  if (accounted > shared.total() + life.threads) ++total->wrong;
}

void Deaths(const Life& life, const std::string& path, uint64_t trials, Shared* shared,
            Total* total) {
  std::mt19937_64 random(17);
  // A kill before the first record says nothing; it is tried again.
  for (uint64_t trial = 0; total->trials < trials && trial < 10 * trials; ++trial) {
    *shared = {};
    const uint64_t abort_at = life.by_abort ? random() % 30'000 : kAny;
    const pid_t pid = Start([&] { LiveUntilDeath(path, life, abort_at, shared); });
    if (!life.by_abort) {
      usleep(static_cast<useconds_t>(random() % life.longest));
      kill(pid, SIGKILL);
    }
    if (!WIFSIGNALED(Wait(pid))) ++total->wrong;
    const uint64_t from = life.options.policy == DBR_RING ? kAny : 0;
    if (shared->total() != 0) {
      Compare(VerifyFile(path, life.threads, life.load, from), *shared, life, total);
    }
    unlink(path.c_str());
  }
}

void Kills(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({}, path, trials, shared, total);
}
void RingKills(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({.options = {.policy = DBR_RING, .bytes = 1 << 20}}, path, trials, shared, total);
}
void Aborts(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({.by_abort = true}, path, trials, shared, total);
}
// Three records to a chunk: most of the time is spent in changes of chunks.
void EdgeKills(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({.threads = 2, .load = Load::kLong, .options = {.policy = DBR_RING, .bytes = 1 << 20}},
         path, trials, shared, total);
}
void ManyThreads(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({.threads = 64, .longest = 60'000}, path, trials, shared, total);
}
void NameKills(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  Deaths({.load = Load::kNames, .longest = 60'000}, path, trials, shared, total);
}

// Without a mapping what is lost is at most the chunk that each thread had not filled.
void Unmapped(const std::string& path, uint64_t trials, Shared* shared, Total* total) {
  constexpr uint64_t kMostInChunk = kChunkPayload / 16;
  const Life life = {.options = {.flags = DBR_NO_MAPPING}, .longest = 30'000};
  std::mt19937_64 random(18);
  for (uint64_t trial = 0; trial < trials; ++trial) {
    *shared = {};
    const pid_t pid = Start([&] { LiveUntilDeath(path, life, kAny, shared); });
    usleep(static_cast<useconds_t>(random() % life.longest));
    kill(pid, SIGKILL);
    Wait(pid);
    ++total->trials;
    if (shared->total() == 0) continue;
    const Found found = VerifyFile(path, life.threads, life.load, 0);
    total->wrong += found.wrong + found.dropped + found.strange;
    total->published += shared->total();
    total->recovered += found.total();
    for (uint64_t i = 0; i < life.threads; ++i) {
      if (found.workers[i].count + kMostInChunk < shared->published[i]) ++total->lost;
      if (found.workers[i].count > shared->published[i] + 1) ++total->wrong;
    }
    unlink(path.c_str());
  }
}

struct Case {
  const char* name;
  void (*run)(const std::string& path, uint64_t trials, Shared* shared, Total* total);
};

constexpr Case kCases[] = {
    {"kill", Kills},          {"ring", RingKills},  {"abort", Aborts},      {"edge", EdgeKills},
    {"threads", ManyThreads}, {"names", NameKills}, {"unmapped", Unmapped}, {"fork", Forks},
    {"exec", ForkAndExec},    {"full", FullDisk},   {"readonly", ReadOnly}, {"churn", Churn},
    {"signals", Signals},     {"reopen", Reopen},
};

int Run(const Case& c, const std::string& folder, uint64_t trials) {
  Shared* shared = MakeShared();
  if (shared == nullptr) return 2;
  Total total;
  c.run(folder + "/run.dbr", trials, shared, &total);
  printf("recorder %s: %llu trials, %llu published, %llu recovered, %llu lost, %llu wrong\n",
         c.name, static_cast<unsigned long long>(total.trials),
         static_cast<unsigned long long>(total.published),
         static_cast<unsigned long long>(total.recovered),
         static_cast<unsigned long long>(total.lost), static_cast<unsigned long long>(total.wrong));
  return total.good(trials) ? 0 : 1;
}

}  // namespace
}  // namespace debrief::recorder::test

int main(int argc, char** argv) {
  using namespace debrief::recorder::test;
  if (argc != 4) return 2;
  for (const Case& c : kCases) {
    if (strcmp(c.name, argv[1]) == 0) return Run(c, argv[2], strtoull(argv[3], nullptr, 10));
  }
  fprintf(stderr, "recorder_kill: no case %s\n", argv[1]);
  return 2;
}
