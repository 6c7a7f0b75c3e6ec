#include "base/bytes/byte_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace byte_stream_test {

using testing::Drain;
using testing::Noise;
using testing::TrickleStream;

TEST(ByteStream, Source) {
  const std::string bytes = Noise(3'000'000);
  auto source = MakeMemorySource(bytes);
  for (size_t step : {size_t{1000}, size_t{1} << 22}) {
    EXPECT_TRUE(Drain(*MakeSourceStream(*source), step).bytes == bytes);
  }
  EXPECT_EQ(Drain(*MakeSourceStream(*MakeMemorySource(""))).bytes, "");
}

TEST(ByteStream, FdWaitsForASlowNonBlockingPipe) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  std::jthread writer([&] {
    for (const char* part : {"one ", "two ", "three"}) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      EXPECT_GT(::write(ends[1], part, std::strlen(part)), 0);
    }
    ::close(ends[1]);
  });
  EXPECT_EQ(Drain(*MakeFdStream(ends[0])).bytes, "one two three");
  ::close(ends[0]);
}

TEST(ByteStream, FdThatCannotBeRead) {
  EXPECT_EQ(Drain(*MakeFdStream(-1)).status.code(), Code::kIo);
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY);
  EXPECT_EQ(Drain(*MakeFdStream(folder)).status.code(), Code::kIo);
  ::close(folder);
}

TEST(ByteStream, HeadThenTheWhole) {
  for (size_t head_size : {size_t{0}, size_t{3}, size_t{11}, size_t{50}}) {
    TrickleStream in("hello world", 2);
    const std::string head = ReadHead(in, head_size).value();
    EXPECT_EQ(head, std::string("hello world").substr(0, head_size));
    EXPECT_EQ(Drain(*MakePrefixedStream(head, in), 4).bytes, "hello world");
  }
  auto owned = std::make_unique<TrickleStream>("world", 1);
  EXPECT_EQ(Drain(*MakePrefixedStream("hello ", std::move(owned)), 3).bytes, "hello world");
}

TEST(ByteStream, HeadOfAStreamThatFails) {
  TrickleStream broken("abc", 2, Status(Code::kTruncated, "cut"));
  EXPECT_EQ(ReadHead(broken, 10).value(), "abc");
  EXPECT_EQ(ReadHead(broken, 10).status().code(), Code::kTruncated);
}

}  // namespace byte_stream_test
}  // namespace debrief
