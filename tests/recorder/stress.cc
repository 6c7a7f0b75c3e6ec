// Everything at once, for the thread sanitizer: eight threads with all kinds of records, others
// that come and go, snapshots, switching off and on, losses, new names, and recordings that are
// closed and opened again under all of them.
//
//   recorder_stress FOLDER ROUNDS
//
// The library is compiled into this program with the sanitizer. Prints one line; a race is a report
// of the sanitizer and an exit code that is not 0.
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <random>
#include <thread>

#include "content.h"

using namespace debrief::recorder;
using namespace debrief::recorder::test;

namespace {

constexpr uint64_t kThreads = 8;
constexpr int kActions = 10;  // of the one that disturbs, in a round

dbr_recording* Open(const std::string& path, uint64_t round) {
  dbr_options options;
  dbr_options_init(&options);
  options.policy = round % 2 == 0 ? DBR_RING : DBR_STOP;
  options.max_bytes = 1 << 20;
  options.sync_seconds = round % 3 == 0 ? 1 : 0;
  options.flags = round % 4 == 3 ? DBR_NO_MAPPING : 0;
  if (options.sync_seconds == 0 && round % 5 == 4) options.flags |= DBR_NO_HELPER;
  dbr_recording* recording = nullptr;
  return dbr_open(path.c_str(), &options, &recording) == DBR_OK ? recording : nullptr;
}

void RecordUntil(const std::atomic<bool>* done, std::atomic<uint64_t>* records, uint64_t worker) {
  Writer writer(worker, worker == 3 ? Load::kNames : Load::kMixed);
  for (uint64_t i = 0; !*done; ++i) {
    writer.Write(i);
    ++*records;
  }
}

void ComeAndGo(const std::atomic<bool>* done) {
  while (!*done) {
    std::thread([] {
      for (int i = 0; i < 5; ++i) dbr_instant(dbr_name("short", 5));
    }).join();
  }
}

struct Nothing : RecordSink {
  void OnRecord(const RecordView&) override {}
};

// Whatever happens meanwhile, there is no damage. Names may be missing: threads go on with those of
// a recording that was closed.
bool FileIsRight(const std::string& path, bool closed) {
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  std::vector<std::byte> bytes(4 << 20);
  bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
  fclose(file);
  Nothing nothing;
  const ReadRecording read = ReadDbr(bytes, nothing);
  for (const ReaderProblem& problem : read.problems) {
    if (problem.problem != Problem::kUnknownName) return false;
  }
  return read.ok && read.header.closed == (closed ? kClosed : kCopied);
}

bool SnapshotIsRight(dbr_recording* recording, const std::string& path) {
  return dbr_snapshot(recording, path.c_str()) == DBR_OK && FileIsRight(path, false);
}

bool Disturb(dbr_recording* recording, const std::string& path, std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return SnapshotIsRight(recording, path + ".copy");
    case 1:
      dbr_enable(recording, 0);
      dbr_enable(recording, 1);
      return true;
    case 2:
      return dbr_get_losses(recording).stopped == 0;
    case 3:
      dbr_meta("round", std::to_string(random()).c_str());
      return true;
    default:
      dbr_thread_name(dbr_name("disturber", 9));
      return true;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string path = std::string(argv[1]) + "/stress.dbr";
  const uint64_t rounds = strtoull(argv[2], nullptr, 10);
  std::atomic<bool> done = false;
  std::atomic<uint64_t> records = 0;
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) threads.emplace_back(RecordUntil, &done, &records, i);
  threads.emplace_back(ComeAndGo, &done);
  std::mt19937_64 random(3);
  uint64_t wrong = 0;
  for (uint64_t round = 0; round < rounds; ++round) {
    dbr_recording* recording = Open(path, round);
    if (recording == nullptr) return 2;
    for (int i = 0; i < kActions; ++i) wrong += Disturb(recording, path, random) ? 0 : 1;
    if (dbr_close(recording) != DBR_OK || !FileIsRight(path, true)) ++wrong;
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  printf("recorder stress: %llu rounds, %llu records tried, %llu wrong\n",
         static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(records),
         static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
