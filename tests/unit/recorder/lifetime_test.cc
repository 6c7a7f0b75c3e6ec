// Threads that end, recordings that are closed under them, files that are not mapped, and disks.
#include <sys/vfs.h>

#include <atomic>
#include <set>
#include <thread>

#include "unit/recorder/recording_fixture.h"

namespace debrief::recorder {
namespace lifetime_test {

TEST_F(RecorderTest, ShortThreadsShareAChunk) {
  Open(DBR_STOP, kFileHeaderBytes + 8 * kChunkBytes);
  for (uint64_t thread = 0; thread < 1000; ++thread) {
    std::thread([=] {
      for (uint64_t i = 0; i < 3; ++i) dbr_span(0, thread, i);
    }).join();
  }
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_TRUE(read.problems.empty());
  EXPECT_EQ(read.dropped, 0u);
  ASSERT_EQ(keeper.kept.size(), 3000u);
  EXPECT_LE(read.chunks.size(), 2u) << "88 bytes a thread";
  std::set<uint32_t> tids;
  for (size_t i = 0; i < keeper.kept.size(); ++i) {
    EXPECT_EQ(keeper.kept[i].values[0], i / 3);
    EXPECT_EQ(keeper.kept[i].tid, keeper.kept[i / 3 * 3].tid);
    tids.insert(keeper.kept[i].tid);
  }
  EXPECT_EQ(tids.size(), 1000u);
}

TEST_F(RecorderTest, WhatIsDroppedAfterAStopIsCountedForEveryThread) {
  Open(DBR_STOP, kFileHeaderBytes + 8 * kChunkBytes);
  constexpr uint64_t kThreads = 12, kEach = 5000;  // more threads than chunks
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([] {
      for (uint64_t i = 0; i < kEach; ++i) dbr_span(0, i, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const dbr_losses losses = dbr_get_losses(handle_);
  Keeper keeper;
  const ReadRecording read = Read(path_, keeper);
  EXPECT_EQ(losses.dropped, read.dropped);
  EXPECT_EQ(keeper.kept.size() + read.dropped, kThreads * kEach);
  EXPECT_GT(read.dropped, 0u);
}

TEST_F(RecorderTest, ARecordingMayBeClosedAndOpenedUnderItsThreads) {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) dbr_span(0, 1, 2);
    });
  }
  for (int round = 0; round < 15; ++round) {
    Open(DBR_RING, 1 << 20);
    dbr_set_device(Name("device of this round"));
    dbr_instant(0);
    ASSERT_EQ(dbr_close(handle_), DBR_OK);
    Keeper keeper;
    const ReadRecording read = Read(path_, keeper);
    EXPECT_TRUE(read.problems.empty());
    EXPECT_EQ(read.header.closed, 1u);
    uint64_t tracked = 0;
    for (const Kept& kept : keeper.kept) tracked += kept.track != 0 ? 1 : 0;
    EXPECT_EQ(tracked, 1u);
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RecorderTest, WithoutAMappingEverythingIsThereAfterClose) {
  for (const uint32_t policy : {DBR_STOP, DBR_RING}) {
    Open(policy, 1 << 20, DBR_NO_MAPPING);
    constexpr uint64_t kCount = 100'000;
    for (uint64_t i = 0; i < kCount; ++i) dbr_span(Name("name " + std::to_string(i / 100)), i, i);
    EXPECT_EQ(dbr_snapshot(handle_, (path_ + ".copy").c_str()), DBR_OK);
    const dbr_losses losses = dbr_get_losses(handle_);
    ASSERT_EQ(dbr_close(handle_), DBR_OK);
    Keeper keeper, copied;
    const ReadRecording read = Read(path_, keeper);
    EXPECT_TRUE(read.problems.empty());
    EXPECT_TRUE(Read(path_ + ".copy", copied).problems.empty());
    EXPECT_EQ(keeper.kept.size(), copied.kept.size());
    uint64_t spans = 0;
    for (const Kept& kept : keeper.kept) spans += kept.type == RecordType::kSpan ? 1 : 0;
    EXPECT_EQ(spans + losses.overwritten + losses.dropped, kCount);
    EXPECT_EQ(read.overwritten, losses.overwritten);
  }
}

TEST_F(RecorderTest, OptionsOfAnOlderCallerAreEnough) {
  dbr_options options;
  dbr_options_init(&options);
  options.size = offsetof(dbr_options, sync_seconds);
  options.flags = 0xffffffff;  // what an older caller has behind his struct
  EXPECT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_OK);
  EXPECT_EQ(dbr_close(handle_), DBR_OK);
  options.size = sizeof options;
  EXPECT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_INVALID);
  options.flags = DBR_NO_HELPER;
  options.sync_seconds = 1;
  EXPECT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_INVALID) << "nobody could sync";
  options.sync_seconds = 0;
  EXPECT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_OK);
  for (uint64_t i = 0; i < 100'000; ++i) dbr_span(0, i, i);
  Keeper keeper;
  EXPECT_TRUE(Read(path_, keeper).problems.empty());
  EXPECT_EQ(keeper.kept.size(), 100'000u);
}

// KiB of the file's mapping that are not on the disk yet.
uint64_t DirtyKib(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  uint64_t dirty = 0;
  bool ours = false;
  for (std::string line; std::getline(maps, line);) {
    const size_t dash = line.find('-');
    if (dash != std::string::npos && dash < 17) ours = line.find(path) != std::string::npos;
    if (ours && line.find("_Dirty:") != std::string::npos) {
      dirty += strtoull(line.c_str() + line.find(':') + 1, nullptr, 10);
    }
  }
  return dirty;
}

TEST_F(RecorderTest, TheFileIsSyncedWhenThatWasAskedFor) {
  struct statfs system = {};
  constexpr long kTmpfs = 0x01021994;
  if (statfs(folder_.c_str(), &system) != 0 || system.f_type == kTmpfs) {
    GTEST_SKIP() << "a file system without a disk";
  }
  dbr_options options;
  dbr_options_init(&options);
  options.sync_seconds = 1;
  ASSERT_EQ(dbr_open(path_.c_str(), &options, &handle_), DBR_OK);
  for (uint64_t i = 0; i < 10'000; ++i) dbr_span(0, i, i);
  EXPECT_GT(DirtyKib(path_), 0u);
  uint64_t dirty = 1;
  for (int tenths = 0; tenths < 100 && dirty != 0; ++tenths) {
    usleep(100'000);
    dirty = DirtyKib(path_);
  }
  EXPECT_EQ(dirty, 0u);
}

}  // namespace lifetime_test
}  // namespace debrief::recorder
