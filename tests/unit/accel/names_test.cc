#include "accel/names.h"

#include <gtest/gtest.h>

#include "compat/acelyzer/reference.h"

namespace debrief::accel {
namespace names_test {

TEST(Names, TheReferenceCutsDigitsOut) {
  EXPECT_EQ(reference::WithoutDigits("event_123"), "event");
  EXPECT_EQ(reference::WithoutDigits("event_123[sync=sgroup_0_s2_321]"), "event[sync=sgroup_s]");
  EXPECT_EQ(reference::WithoutDigits("TeslaV100 x"), "TeslaV100 x");
  EXPECT_EQ(reference::WithoutDigits("plain"), "plain");
  EXPECT_EQ(reference::WithoutDigits("max_pool2d"), "max_poold");
  EXPECT_EQ(reference::WithoutDigits(""), "");
}

TEST(Names, PlaceholdersStandForNumbersOfTheirOwn) {
  EXPECT_EQ(WithPlaceholders("addmm_1_MatMul-BMM_1 Cmpt Exec"),
            "addmm_[N]_MatMul-BMM_[N] Cmpt Exec");
  EXPECT_EQ(WithPlaceholders("view-3"), "view_[N]");
  EXPECT_EQ(WithPlaceholders("max_pool2d"), "max_pool2d");
  EXPECT_EQ(WithPlaceholders("a__b-_"), "a__b-_");
}

}  // namespace names_test
}  // namespace debrief::accel
