#include "base/bytes/growing_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/bytes/output_names.h"
#include "base/bytes/source.h"
#include "base/bytes/unfinished.h"
#include "base/bytes/unique_fd.h"
#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace growing_file_test {

namespace fs = std::filesystem;
using testing::TempFolder;

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

size_t FilesIn(const TempFolder& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
}

TEST(WriteFile, WritesAndReplaces) {
  TempFolder folder;
  std::string long_text = testing::Noise(3'000'000);
  for (const std::string& text : {long_text, std::string("short"), std::string()}) {
    ASSERT_TRUE(WriteFileAtomically(folder.File("x"), text).ok());
    EXPECT_TRUE(Content(folder.File("x")) == text);
    EXPECT_EQ(FilesIn(folder), 1u);
  }
}

TEST(WriteFile, FailureLeavesNothing) {
  TempFolder folder;
  fs::create_directories(folder.File("is_folder/below"));
  Status status = WriteFileAtomically(folder.File("is_folder"), "x");
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(status.place().file, folder.File("is_folder"));
  EXPECT_FALSE(status.remedy().empty());
  EXPECT_EQ(FilesIn(folder), 1u);
  EXPECT_FALSE(WriteFileAtomically(folder.File("missing/x"), "x").ok());
}

// A link could only be put where the name is known before.
TEST(WriteFile, NamesOfUnfinishedFilesAreFresh) {
  EXPECT_NE(UnfinishedPath("a/x"), UnfinishedPath("a/x"));
  const std::string name = UnfinishedPath("x.json");
  EXPECT_TRUE(UnfinishedPath("a/x.json").starts_with("a/.x.json."));
  EXPECT_TRUE(IsUnfinishedName(name));
  EXPECT_TRUE(IsUnfinishedName(name, "x.json"));
  EXPECT_FALSE(IsUnfinishedName(name, "y.json"));
  for (const char* other : {"x.json", ".debrief", ".debrief-0123456789abcdef", ".x.debrief-0123"})
    EXPECT_FALSE(IsUnfinishedName(other)) << other;
  const std::string longest = UnfinishedPath(std::string(255, 'x'));
  EXPECT_LE(longest.size(), 255u);
  EXPECT_TRUE(IsUnfinishedName(longest, std::string(255, 'x')));
}

TEST(WriteFile, AnInputIsNotReplaced) {
  TempFolder folder;
  std::ofstream(folder.File("input")) << "precious";
  ASSERT_EQ(symlink("input", folder.File("link").c_str()), 0);
  ASSERT_TRUE(OpenFileSource(folder.File("input")).ok());
  for (const char* name : {"input", "link"})
    EXPECT_EQ(WriteFileAtomically(folder.File(name), "x").code(), Code::kUsage);
  EXPECT_EQ(Content(folder.File("input")), "precious");
  EXPECT_EQ(FilesIn(folder), 2u);
}

TEST(WriteFile, WhatIsNoRegularFileIsWrittenTo) {
  TempFolder folder;
  ASSERT_EQ(mkfifo(folder.File("fifo").c_str(), 0600), 0);
  UniqueFd reader(open(folder.File("fifo").c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(WriteFileAtomically(folder.File("fifo"), "through").ok());
  char got[20] = {};
  EXPECT_EQ(read(reader.get(), got, sizeof got), 7);
  EXPECT_STREQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(folder.File("fifo")));
}

// What /dev/fd/N stands for goes on where it is: a file is not written over from its beginning.
TEST(WriteFile, DescriptorsGoOnWhereTheyAre) {
  TempFolder folder;
  UniqueFd file(open(folder.File("log").c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(write(file.get(), "first ", 6), 6);
  ASSERT_TRUE(WriteFileAtomically("/dev/fd/" + std::to_string(file.get()), "second").ok());
  EXPECT_EQ(Content(folder.File("log")), "first second");
}

// Who is interrupted has its unfinished files and folders removed; it ends right after.
TEST(WriteFile, UnfinishedIsRemoved) {
  TempFolder folder;
  const std::string file = UnfinishedPath(folder.File("x"));
  const std::string below = UnfinishedPath(folder.File("y"));
  EXPECT_EXIT(
      {
        const Unfinished one(file);
        const Unfinished other(below);
        std::ofstream(file) << "half";
        fs::create_directories(below + "/deep");
        std::ofstream(folder.File("done")) << "whole";
        RemoveUnfinished();
        _exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(FilesIn(folder), 1u);
  EXPECT_EQ(Content(folder.File("done")), "whole");
}

}  // namespace growing_file_test
}  // namespace debrief
