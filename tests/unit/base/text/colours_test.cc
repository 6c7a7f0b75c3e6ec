#include "base/text/colours.h"

#include <gtest/gtest.h>

namespace debrief {
namespace colours_test {

TEST(Colours, AreTakenOut) {
  EXPECT_EQ(WithoutColours("\x1b[1;32m[12:00:01] \x1b[0mstep 1\n"), "[12:00:01] step 1\n");
  EXPECT_EQ(WithoutColours("plain"), "plain");
  EXPECT_EQ(WithoutColours("cut \x1b[3"), "cut ");
  EXPECT_EQ(WithoutColours("\x1b"), "");
  EXPECT_TRUE(HasColours("a\x1b[0m"));
  EXPECT_FALSE(HasColours("a[0m"));
}

}  // namespace colours_test
}  // namespace debrief
