#include "base/bytes/gzip.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/bytes/byte_stream.h"
#include "base/bytes/decompress.h"

namespace debrief {

namespace gzip_test {

std::string Base64(std::string_view bytes) {
  std::string out = "x";
  AppendBase64(out, bytes);
  return out.substr(1);
}

TEST(Base64, PadsAsTheStandardSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foo"), "Zm9v");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64(std::string_view("\x00\xff\xfe", 3)), "AP/+");
}

std::string Unpacked(std::string_view packed) {
  const auto source = MakeMemorySource(std::string(packed));
  auto stream = Decompress(Packing::kGzip, MakeSourceStream(*source), {});
  std::string out(1 << 20, '\0');
  size_t size = 0;
  for (;;) {
    Result<size_t> read = stream->Read(out.data() + size, out.size() - size);
    if (!read.ok()) return "broken";
    if (read.value() == 0) return out.substr(0, size);
    size += read.value();
  }
}

TEST(Gzip, BytesComeBack) {
  std::string noise;
  uint32_t seed = 7;
  for (int i = 0; i < 300'000; ++i)
    noise += static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string(500'000, 'a'), noise})
    EXPECT_EQ(Unpacked(Gzip(bytes)), bytes);
  EXPECT_LT(Gzip(std::string(500'000, 'a')).size(), 5'000u);
}

}  // namespace gzip_test

}  // namespace debrief
