#include "base/bytes/spill.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <thread>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace spill_test {

using testing::Noise;
using testing::TempFolder;
using testing::TrickleStream;

Spilled SpillBytes(const std::string& bytes, SpillBudget& budget, Status end = {}) {
  TrickleStream in(bytes, 70'000, std::move(end));
  Spilled spilled = Spill(in, budget);
  EXPECT_NE(spilled.source, nullptr);
  return spilled;
}

std::string Text(const Source& source) {
  Result<ByteView> view = source.View(0, SIZE_MAX);
  EXPECT_TRUE(view.ok());
  for (size_t i = 0; i < kPadding; ++i) EXPECT_EQ(view->data()[view->size() + i], '\0');
  return std::string(view->text());
}

class SpillTest : public ::testing::Test {
 protected:
  SpillTest() { budget_.folder = folder_.path(); }

  void ExpectAllReturned() {
    EXPECT_EQ(budget_.memory_used, 0u);
    EXPECT_EQ(budget_.disk_used, 0u);
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  }

  TempFolder folder_;
  SpillBudget budget_;
};

TEST_F(SpillTest, EverySizeAroundTheBounds) {
  budget_.max_stream_memory = 200'000;
  for (size_t size :
       std::vector<size_t>{0, 1, 65'535, 65'536, 65'537, 199'999, 200'000, 200'001, 3'000'000}) {
    const std::string bytes = Noise(size);
    {
      Spilled spilled = SpillBytes(bytes, budget_);
      EXPECT_TRUE(spilled.trouble.ok());
      ASSERT_EQ(spilled.source->size(), size);
      ASSERT_EQ(Text(*spilled.source), bytes);
      const bool on_disk = size > 200'000;
      EXPECT_EQ(budget_.disk_used, on_disk ? size : 0);
      EXPECT_EQ(budget_.memory_used, on_disk ? 0 : size + kPadding);
      EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    }
    ExpectAllReturned();
  }
}

TEST_F(SpillTest, MemoryIsReturnedWithTheLastView) {
  ByteView view;
  {
    Spilled spilled = SpillBytes("hello", budget_);
    view = spilled.source->View(1, 3).value();
  }
  EXPECT_GT(budget_.memory_used, 0u);
  EXPECT_EQ(view.text(), "ell");
  view = {};
  ExpectAllReturned();
}

TEST_F(SpillTest, SharedMemoryRunsOut) {
  budget_.max_memory_bytes = 150'000;
  std::vector<Spilled> spilled;
  for (int i = 0; i < 5; ++i) spilled.push_back(SpillBytes(Noise(60'000), budget_));
  EXPECT_EQ(budget_.disk_used, 180'000u);
  EXPECT_LE(budget_.memory_used, 150'000u);
  for (const Spilled& one : spilled) EXPECT_EQ(Text(*one.source), Noise(60'000));
  spilled.clear();
  ExpectAllReturned();
}

TEST_F(SpillTest, TroubleOfTheStream) {
  budget_.max_stream_memory = 100'000;
  for (size_t size : std::vector<size_t>{0, 10, 500'000}) {
    Spilled spilled = SpillBytes(Noise(size), budget_, Status(Code::kTruncated, "cut"));
    EXPECT_EQ(spilled.trouble.code(), Code::kTruncated);
    EXPECT_EQ(Text(*spilled.source), Noise(size));
  }
  ExpectAllReturned();
}

TEST_F(SpillTest, DiskBudgetRunsOut) {
  budget_.max_stream_memory = 100'000;
  budget_.max_disk_bytes = 2'000'000;
  const std::string bytes = Noise(5'000'000);
  {
    Spilled spilled = SpillBytes(bytes, budget_);
    EXPECT_EQ(spilled.trouble.code(), Code::kLimit);
    EXPECT_NE(spilled.trouble.message().find(folder_.path()), std::string::npos);
    EXPECT_GT(spilled.source->size(), 1'000'000u);
    EXPECT_LE(spilled.source->size(), 2'000'000u);
    EXPECT_EQ(Text(*spilled.source), bytes.substr(0, spilled.source->size()));
  }
  ExpectAllReturned();
}

TEST_F(SpillTest, FolderThatDoesNotExist) {
  budget_.folder = folder_.File("nowhere");
  budget_.max_stream_memory = 100'000;
  Spilled spilled = SpillBytes(Noise(500'000), budget_);
  EXPECT_EQ(spilled.trouble.code(), Code::kIo);
  EXPECT_NE(spilled.trouble.message().find("nowhere"), std::string::npos);
  EXPECT_NE(spilled.trouble.remedy().find("another folder"), std::string::npos);
  EXPECT_GE(spilled.source->size(), 100'000u);
  EXPECT_TRUE(Noise(500'000).starts_with(Text(*spilled.source)));
}

TEST_F(SpillTest, ManyThreadsShareOneBudget) {
  budget_.max_stream_memory = 300'000;
  budget_.max_memory_bytes = 1'000'000;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < 20; ++i) {
          const std::string bytes = Noise(1000 + (t * 20 + i) * 2500);
          TrickleStream in(bytes, 100'000);
          Spilled spilled = Spill(in, budget_);
          Result<ByteView> view = spilled.source->View(0, SIZE_MAX);
          if (!spilled.trouble.ok() || view->text() != bytes) ++wrong;
          if (budget_.memory_used > 1'000'000) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  ExpectAllReturned();
}

// The kernel says ENOSPC for a full disk; /dev/full cannot be a folder, so a file size limit stands
// in for the write that fails in the middle.
TEST_F(SpillTest, WriteThatFails) {
  budget_.max_stream_memory = 100'000;
  const std::string bytes = Noise(3'000'000);
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1'000'000;
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Spilled spilled = SpillBytes(bytes, budget_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(spilled.trouble.code(), Code::kIo);
  EXPECT_EQ(spilled.source->size(), 1'000'000u);
  EXPECT_EQ(Text(*spilled.source), bytes.substr(0, 1'000'000));
}

}  // namespace spill_test
}  // namespace debrief
