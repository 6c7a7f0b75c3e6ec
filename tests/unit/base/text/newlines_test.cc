#include "base/text/newlines.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/base/bytes/stream_helpers.h"

namespace debrief {
namespace newlines_test {

using testing::Noise;
using testing::SomeText;

std::vector<std::string> Lines(std::string_view text, bool* terminated = nullptr) {
  std::vector<std::string> lines;
  LineSplitter splitter(text);
  for (std::string_view line; splitter.Next(line);) lines.emplace_back(line);
  std::string_view more;
  EXPECT_FALSE(splitter.Next(more));
  EXPECT_EQ(splitter.offset(), text.size());
  if (terminated != nullptr) *terminated = splitter.terminated();
  return lines;
}

// The slow truth.
void CheckText(std::string_view text) {
  std::vector<std::string> lines;
  size_t begin = 0;
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\n') continue;
    ++count;
    lines.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  ASSERT_EQ(CountNewlines(text), lines.size());
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  ASSERT_EQ(CountNewlines(text), count);
  bool terminated = false;
  ASSERT_EQ(Lines(text, &terminated), lines);
  EXPECT_EQ(terminated, begin == text.size());
}

TEST(Newlines, AllSizesAndPhases) {
  const std::string text = SomeText(400);
  const std::string noise = Noise(400);
  const std::string newlines(400, '\n');
  for (size_t begin = 0; begin < 70; begin += 3) {
    for (size_t size = 0; size < 300; ++size) {
      CheckText(std::string_view(text).substr(begin, size));
      CheckText(std::string_view(noise).substr(begin, size));
    }
    CheckText(std::string_view(newlines).substr(begin));
  }
}

// The byte counters of the vector code hold 254: every byte of a long text counts here.
TEST(Newlines, ManyInARow) {
  CheckText(std::string(100'000, '\n'));
  CheckText(std::string(100'000, 'x'));
  std::string noise = Noise(200'000);
  for (char& byte : noise) byte = static_cast<char>(byte & 15);
  CheckText(noise);
}

TEST(Newlines, PortableMaskIsTheSame) {
  for (int byte = 0; byte < 256; ++byte) {
    char block[64];
    for (int at = 0; at < 64; ++at) {
      std::fill(std::begin(block), std::end(block), static_cast<char>(byte));
      block[at] = '\n';
      ASSERT_EQ(NewlineMaskPortable(block), byte == '\n' ? ~uint64_t{0} : uint64_t{1} << at);
      ASSERT_EQ(NewlineMask(block), NewlineMaskPortable(block));
    }
  }
  std::string noise = Noise(1 << 20);
  for (size_t i = 0; i + 64 <= noise.size(); i += 64) {
    for (size_t j = 0; j < 64; ++j) noise[i + j] = static_cast<char>(noise[i + j] & 0x8b);
    ASSERT_EQ(NewlineMask(&noise[i]), NewlineMaskPortable(&noise[i]));
  }
}

}  // namespace newlines_test
}  // namespace debrief
