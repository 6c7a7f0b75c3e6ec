#include "base/bytes/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "base/bytes/source.h"
#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace open_files_test {

using testing::TempFolder;

size_t CountDescriptors() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

Result<UniqueFd> OpenNull() { return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

TEST(OpenFiles, KeepsFewOpen) {
  const size_t before = CountDescriptors();
  OpenFiles files(3);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(files.Take(files.NewNumber(), OpenNull).ok());
    ASSERT_LE(CountDescriptors(), before + 3);
  }
}

TEST(OpenFiles, OpensOnceWhatIsUsedAgain) {
  OpenFiles files(2);
  int opened = 0;
  auto open = [&] {
    ++opened;
    return OpenNull();
  };
  for (uint64_t number : {1U, 2U, 1U, 2U, 1U}) ASSERT_TRUE(files.Take(number, open).ok());
  EXPECT_EQ(opened, 2);
  ASSERT_TRUE(files.Take(3, open).ok());  // in place of 2, which was used before 1
  ASSERT_TRUE(files.Take(1, open).ok());
  EXPECT_EQ(opened, 3);
  files.Forget(1);
  ASSERT_TRUE(files.Take(1, open).ok());
  EXPECT_EQ(opened, 4);
}

TEST(OpenFiles, FailureIsNotKept) {
  OpenFiles files(1);
  auto fail = [] { return Result<UniqueFd>(Status(Code::kNotFound, "gone")); };
  EXPECT_EQ(files.Take(1, fail).status().code(), Code::kNotFound);
  EXPECT_TRUE(files.Take(1, OpenNull).ok());
}

TEST(OpenFiles, ManyThreadsShareOne) {
  OpenFiles files(2);
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 500; ++i) {
        auto use = files.Take(1 + (i * 7 + static_cast<uint64_t>(t)) % 5, OpenNull);
        if (use.ok() && ::fcntl(use->fd(), F_GETFD) >= 0) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 500);
}

// More sources than may be open at once, read in turns.
TEST(OpenFiles, ManySources) {
  TempFolder folder;
  std::vector<std::unique_ptr<Source>> sources;
  const size_t before = CountDescriptors();
  for (int i = 0; i < 600; ++i) {
    const std::string path = folder.File(std::to_string(i));
    std::ofstream(path) << i;
    sources.push_back(OpenFileSource(path).value());
  }
  EXPECT_LE(CountDescriptors(), before + 256);
  for (int i = 0; i < 600; ++i)
    EXPECT_EQ(sources[static_cast<size_t>(i)]->View(0, 10)->text(), std::to_string(i));
  // The first was closed meanwhile; another file of its name is not taken for it.
  std::ofstream(folder.File("new")) << "another";
  std::filesystem::rename(folder.File("new"), folder.File("0"));
  EXPECT_EQ(sources[0]->View(0, 10).status().code(), Code::kChanged);
}

}  // namespace open_files_test
}  // namespace debrief
