#include "base/bytes/write_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/base/stream_helpers.h"

namespace debrief {
namespace write_file_test {

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

TEST(WriteFile, LinkAtTheTemporaryNameIsNotFollowed) {
  TempFolder folder;
  std::ofstream(folder.File("victim")) << "precious";
  ASSERT_EQ(symlink(folder.File("victim").c_str(), folder.File("x.tmp").c_str()), 0);
  EXPECT_TRUE(WriteFileAtomically(folder.File("x"), "new").ok());
  EXPECT_EQ(Content(folder.File("x")), "new");
  EXPECT_EQ(Content(folder.File("victim")), "precious");
}

}  // namespace write_file_test
}  // namespace debrief
