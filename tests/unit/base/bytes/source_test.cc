#include "base/bytes/source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace source_test {

using testing::Noise;
using testing::TempFolder;

void WriteFile(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::unique_ptr<Source> Open(const std::string& path) {
  Result<std::unique_ptr<Source>> source = OpenFileSource(path);
  EXPECT_TRUE(source.ok()) << source.status().ToString();
  return source.ok() ? std::move(source).value() : nullptr;
}

// Every window of both kinds of source, at and around the ends.
void CheckWindows(const Source& source, std::string_view bytes) {
  ASSERT_EQ(source.size(), bytes.size());
  const size_t size = bytes.size();
  for (size_t offset : {size_t{0}, size_t{1}, size / 2, size - 1, size, size + 1, SIZE_MAX}) {
    for (size_t length : {size_t{0}, size_t{1}, size / 2, size, size + 1, SIZE_MAX}) {
      Result<ByteView> view = source.View(offset, length);
      ASSERT_TRUE(view.ok());
      const std::string_view expected = offset < size ? bytes.substr(offset, length) : "";
      ASSERT_EQ(view->text(), expected) << offset << " " << length;
      if (offset + expected.size() < size) continue;
      for (size_t i = 0; i < kPadding; ++i) ASSERT_EQ(view->data()[view->size() + i], '\0');
    }
  }
}

TEST(MemorySource, Windows) {
  const std::string bytes = Noise(1000);
  CheckWindows(*MakeMemorySource(bytes), bytes);
  CheckWindows(*MakeMemorySource("x"), "x");
}

TEST(MemorySource, Empty) {
  auto source = MakeMemorySource("");
  EXPECT_EQ(source->size(), 0u);
  EXPECT_EQ(source->View(0, 10).value().size(), 0u);
}

TEST(MemorySource, ViewsShareBytesAndOutliveTheSource) {
  auto source = MakeMemorySource("hello world");
  ByteView whole = source->View(0, 100).value();
  ByteView part = source->View(6, 5).value();
  EXPECT_EQ(part.data(), whole.data() + 6);
  source.reset();
  EXPECT_EQ(part.text(), "world");
}

TEST(FileSource, Windows) {
  TempFolder folder;
  for (size_t size : {size_t{1}, size_t{1000}, size_t{300'000}, size_t{5'000'000}}) {
    const std::string bytes = Noise(size);
    WriteFile(folder.File("a"), bytes);
    CheckWindows(*Open(folder.File("a")), bytes);
  }
}

TEST(FileSource, EmptyFile) {
  TempFolder folder;
  WriteFile(folder.File("a"), "");
  EXPECT_EQ(Open(folder.File("a"))->View(0, 5).value().size(), 0u);
}

// Buffers are used again: an old view must keep its bytes, and old bytes must not reach the
// padding.
TEST(FileSource, UsedBuffersDoNotShowThrough) {
  TempFolder folder;
  WriteFile(folder.File("a"), std::string(1 << 20, 'a'));
  WriteFile(folder.File("b"), std::string((1 << 20) - 100, 'b'));
  auto a = Open(folder.File("a"));
  auto b = Open(folder.File("b"));
  {
    ByteView dropped = a->View(0, 1 << 20).value();
  }
  ByteView kept = b->View(0, 1 << 20).value();
  for (int i = 0; i < 10; ++i) ByteView other = a->View(0, 1 << 20).value();
  a.reset();
  b.reset();
  EXPECT_EQ(kept.text(), std::string((1 << 20) - 100, 'b'));
  for (size_t i = 0; i < kPadding; ++i) ASSERT_EQ(kept.data()[kept.size() + i], '\0');
}

TEST(FileSource, FileThatShrank) {
  TempFolder folder;
  const std::string path = folder.File("log");
  WriteFile(path, std::string(10000, 'x'));
  auto source = Open(path);
  ASSERT_EQ(::truncate(path.c_str(), 4000), 0);
  EXPECT_TRUE(source->View(0, 4000).ok());
  Result<ByteView> view = source->View(1000, 9000);
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.status().code(), Code::kChanged);
  EXPECT_EQ(view.status().place().file, path);
  EXPECT_EQ(view.status().place().offset, 4000);
  EXPECT_FALSE(view.status().remedy().empty());
  auto stream = MakeSourceStream(*source);
  testing::Drained drained = testing::Drain(*stream, 3000);
  EXPECT_EQ(drained.bytes.size(), 4000u);
  EXPECT_EQ(drained.status.code(), Code::kChanged);
}

TEST(FileSource, FileThatGrewKeepsItsSize) {
  TempFolder folder;
  const std::string path = folder.File("log");
  WriteFile(path, "12345");
  auto source = Open(path);
  std::ofstream(path, std::ios::app) << "67890";
  EXPECT_EQ(source->View(0, 100).value().text(), "12345");
}

TEST(FileSource, SparseGiantDoesNotNeedItsSize) {
  TempFolder folder;
  const std::string path = folder.File("giant");
  WriteFile(path, "x");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 42), 0);
  auto source = Open(path);
  EXPECT_EQ(source->size(), uint64_t{1} << 42);
  EXPECT_EQ(source->View((uint64_t{1} << 42) - 3, 10).value().text(),
            std::string_view("\0\0\0", 3));
}

void ExpectRefused(const std::string& path, Code code, std::string_view word) {
  Result<std::unique_ptr<Source>> source = OpenFileSource(path);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.status().code(), code) << source.status().ToString();
  EXPECT_NE(source.status().message().find(word), std::string::npos) << source.status().ToString();
  EXPECT_EQ(source.status().place().file, path);
}

TEST(FileSource, WhatIsNotARegularFile) {
  TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.File("fifo").c_str(), 0600), 0);
  ExpectRefused(folder.File("fifo"), Code::kUnsupported, "fifo");
  ExpectRefused(folder.path(), Code::kUnsupported, "directory");
  ExpectRefused("/dev/null", Code::kUnsupported, "device");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.File("s").c_str(), sizeof(address.sun_path) - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ExpectRefused(folder.File("s"), Code::kUnsupported, "socket");
  ::close(fd);
}

TEST(FileSource, WhatCannotBeOpened) {
  TempFolder folder;
  ExpectRefused(folder.File("nothing"), Code::kNotFound, "no such file");
  WriteFile(folder.File("a"), "x");
  ExpectRefused(folder.File("a/b"), Code::kNotFound, "no such file");
  ASSERT_EQ(::symlink("loop", folder.File("loop").c_str()), 0);
  ExpectRefused(folder.File("loop"), Code::kIo, "cannot open");
}

TEST(FileSource, FileThatMayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  TempFolder folder;
  WriteFile(folder.File("a"), "x");
  ASSERT_EQ(::chmod(folder.File("a").c_str(), 0), 0);
  ExpectRefused(folder.File("a"), Code::kDenied, "cannot open");
}

TEST(FileSource, ViewsFromManyThreads) {
  TempFolder folder;
  const std::string bytes = Noise(3'000'000);
  WriteFile(folder.File("a"), bytes);
  auto source = Open(folder.File("a"));
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (size_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 100; ++i) {
        const size_t offset = (t * 7919 + i * 104729) % bytes.size();
        const size_t length = (i * 37) % 5 * 100'000 + i;
        Result<ByteView> view = source->View(offset, length);
        if (!view.ok() || view->text() != std::string_view(bytes).substr(offset, length)) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace source_test
}  // namespace debrief
