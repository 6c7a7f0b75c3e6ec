#include "model/accel/dialect.h"

#include <gtest/gtest.h>

namespace debrief::accel {
namespace dialect_test {

TEST(Dialect, ANameMeansSomethingInItsDialectAlone) {
  EXPECT_TRUE(IsSuperNode(NameBits("Flex RoundTrip"), Dialect::kFlex));
  EXPECT_FALSE(IsSuperNode(NameBits("Flex RoundTrip"), Dialect::kTorch));
  EXPECT_TRUE(IsSuperNode(NameBits("aiuLaunchSuperNode"), Dialect::kTorch));
  EXPECT_TRUE(IsRdmaPrepSync(NameBits("PrepareAndSyncRdma"), Dialect::kFlex));
  EXPECT_TRUE(IsDataConvert(NameBits("aiuDataConvert"), Dialect::kTorch));
  EXPECT_TRUE(NameBits("some barrier: 3") & kNameBarrier);
  EXPECT_TRUE(NameBits("SenRdmaSend_3") & kNameRdma);
}

TEST(Dialect, AFusedNodeIsNoConversion) {
  const auto converts = [](std::string_view name) {
    return IsDataConvert(NameBits(name), Dialect::kFlex);
  };
  EXPECT_TRUE(converts("Compute of DtoH"));
  EXPECT_FALSE(converts("Compute of x SenFusedDeviceNode_1"));
  EXPECT_TRUE(converts("Compute of SenFusedDeviceNode_1 Compute of y"));
}

TEST(Dialect, PhasesBySuffixAndByWord) {
  EXPECT_EQ(PhaseBySuffix("a Cmpt Exec"), Phase::kExec);
  EXPECT_EQ(PhaseBySuffix("a DmaO"), Phase::kDmaOut);
  EXPECT_EQ(PhaseBySuffix("a DmaO [2B]"), Phase::kNone);
  EXPECT_EQ(PhaseByWord("a DmaO [2B]"), Phase::kDmaOut);
  EXPECT_EQ(PhaseByWord("DmaO"), Phase::kNone);
  EXPECT_EQ(PhaseByWord("a DmaI Cmpt Exec"), Phase::kDmaIn);
}

}  // namespace dialect_test
}  // namespace debrief::accel
