#include "base/text/utf16.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace utf16_test {

using namespace std::string_literals;

std::string Converted(const std::string& bytes, size_t in_step, size_t out_step) {
  auto in = std::make_unique<testing::TrickleStream>(bytes, in_step);
  return testing::Drain(*MakeUtf8Stream(std::move(in)), out_step).bytes;
}

TEST(Utf16, IsKnownByItsMark) {
  EXPECT_TRUE(IsUtf16("\xFF\xFEV\0001"s));
  EXPECT_TRUE(IsUtf16("\xFE\xFF\0V\0"s));
  EXPECT_FALSE(IsUtf16("\xFF\xFE\0\0V\0\0\0"s)) << "UTF-32";
  EXPECT_FALSE(IsUtf16("\xFF\xFE\x01\x02"s)) << "some other bytes";
  EXPECT_FALSE(IsUtf16("\xFF\xFE"s));
  EXPECT_FALSE(IsUtf16(""));
}

TEST(Utf16, CharactersOfAllLengthsInPiecesOfAnySize) {
  const std::string little =
      "\xFF\xFE"
      "a\0"
      "\xFC\0"
      "\xAC\x20"
      "\x3D\xD8\x00\xDE"s;
  const std::string big =
      "\xFE\xFF"
      "\0a"
      "\0\xFC"
      "\x20\xAC"
      "\xD8\x3D\xDE\x00"s;
  const std::string text = "a\u00FC\u20AC\U0001F600";
  for (size_t step : {1u, 2u, 3u, 100u}) {
    EXPECT_EQ(Converted(little, step, step), text) << step;
    EXPECT_EQ(Converted(big, step, 100), text) << step;
  }
}

TEST(Utf16, HalvesBecomeReplacements) {
  EXPECT_EQ(Converted("\xFF\xFE"
                      "\x3D\xD8"
                      "a\0"s,
                      1, 100),
            "\uFFFDa")
      << "the first alone";
  EXPECT_EQ(Converted("\xFF\xFE"
                      "\x00\xDE"
                      "a\0"s,
                      1, 100),
            "\uFFFDa")
      << "the second alone";
  EXPECT_EQ(Converted("\xFF\xFE"
                      "a\0"
                      "\x3D\xD8"s,
                      1, 100),
            "a\uFFFD")
      << "at the end";
  EXPECT_EQ(Converted("\xFF\xFE"
                      "a\0"
                      "b"s,
                      1, 100),
            "a\uFFFD")
      << "one byte too many";
}

}  // namespace utf16_test
}  // namespace debrief
