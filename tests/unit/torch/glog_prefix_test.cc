// The prefix of a log line, field by field.
#include "torch/prefixes/glog_prefix.h"

#include <gtest/gtest.h>

#include <string>

namespace debrief {
namespace glog_prefix_test {

TEST(GlogPrefix, Fields) {
  std::string line = "V1115 02:33:12.159000 425 torch/_dynamo/utils.py:2126] {\"a\": 1}";
  auto prefix = FindGlogPrefix(line);
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->begin, 0u);
  EXPECT_EQ(prefix->time, "1115 02:33:12.159000");
  EXPECT_EQ(prefix->thread, "425");
  EXPECT_EQ(prefix->path, " torch/_dynamo/utils.py") << "with its blank";
  EXPECT_EQ(prefix->line, "2126");
  EXPECT_EQ(line.substr(prefix->rest), "{\"a\": 1}");
}

TEST(GlogPrefix, BehindOtherText) {
  std::string line = "[rank0]:V1 E1115 02:33:12.159000 4 x.py:1] {}";
  auto prefix = FindGlogPrefix(line);
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->begin, 11u);
  EXPECT_EQ(line.substr(prefix->rest), "{}");
}

TEST(GlogPrefix, TheFirstOneCounts) {
  auto prefix =
      FindGlogPrefix("V1115 02:33:12.159000 1 a.py:1] V1115 02:33:12.159000 2 b.py:2] {}");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->thread, "1");
}

TEST(GlogPrefix, PathOfOneDigit) {
  auto prefix = FindGlogPrefix("V1115 02:33:12.159000 425:7] {}");
  ASSERT_TRUE(prefix) << "the path takes the last digit of the thread";
  EXPECT_EQ(prefix->thread, "42");
  EXPECT_EQ(prefix->path, "5");
}

TEST(GlogPrefix, Refused) {
  for (const char* line :
       {"", "V", "X1115 02:33:12.159000 425 x.py:1] {}", "V1115 02:33:12.159 425 x.py:1] {}",
        "V1115 02:33:12.159000 425 x.py:1]{}", "V1115 02:33:12.159000 425 x.py:1] ",
        "V1115 02:33:12.159000 425 C:\\x.py:1] {}", "V1115 02:33:12.159000 x.py:1] {}",
        "V1115 02:33:12.159000 4:1] {}", "V1115 02:33:12.159000 425 x.py:] {}",
        "V1115 02:33:12.159000 425 x.py:1"}) {
    EXPECT_FALSE(FindGlogPrefix(line)) << line;
  }
}

}  // namespace glog_prefix_test
}  // namespace debrief
