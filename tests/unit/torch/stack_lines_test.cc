#include "torch/stacks/stack_lines.h"

#include <gtest/gtest.h>

namespace debrief {
namespace stack_lines_test {

TEST(StackLines, GdbFramesThatAreCut) {
  auto whole = stack_lines::ParseGdbFrame("#3  0x00007f in step (x=1) at train.c:41");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->function, "step");
  EXPECT_EQ(whole->file, "train.c");
  EXPECT_EQ(whole->line, 41);
  auto number = stack_lines::ParseGdbFrame("#1234");
  ASSERT_TRUE(number) << "a number alone";
  EXPECT_EQ(number->function, "");
}

}  // namespace stack_lines_test
}  // namespace debrief
