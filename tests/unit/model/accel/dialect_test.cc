#include "model/accel/dialect.h"

#include <gtest/gtest.h>

namespace debrief::accel {
namespace {

EventLook Flex(std::string_view name, bool stamps = true) {
  return {.dialect = Dialect::kFlex, .name = NameBits(name), .has_stamps = stamps};
}

EventLook Torch(std::string_view name, std::string_view cat) {
  return {.dialect = Dialect::kTorch, .name = NameBits(name), .cat = CatBits(cat)};
}

TEST(Dialect, FlexKnowsDeviceEventsByStampsAndSuffix) {
  EXPECT_TRUE(IsDeviceEvent(Flex("sub_1 Cmpt Exec")));
  EXPECT_FALSE(IsDeviceEvent(Flex("sub_1 Cmpt Exec", false)));
  EXPECT_TRUE(IsKernel(Flex("sub_1 Cmpt Exec")));
  EXPECT_FALSE(IsKernel(Flex("sub_1 Cmpt Exec [2B]")));
  EXPECT_TRUE(IsComputePrep(Flex("sub_1 Cmpt Prep")));
  EXPECT_TRUE(IsHostToDevice(Flex("x DmaI"), true));
  EXPECT_TRUE(IsDeviceToHost(Flex("x DmaO"), false));
  EXPECT_TRUE(IsSuperNode(Flex("Flex RoundTrip")));
  EXPECT_TRUE(IsBarrier(Flex("some barrier: 3")));
}

TEST(Dialect, AFusedNodeIsNoConversion) {
  EXPECT_TRUE(IsDataConvert(Flex("Compute of DtoH")));
  EXPECT_FALSE(IsDataConvert(Flex("Compute of x SenFusedDeviceNode_1")));
  EXPECT_TRUE(IsDataConvert(Flex("Compute of SenFusedDeviceNode_1 Compute of y")));
}

TEST(Dialect, TorchKnowsThemByCategory) {
  EXPECT_TRUE(IsDeviceEvent(Torch("x", "gpu_memcpy")));
  EXPECT_TRUE(IsKernel(Torch("x", "kernel")));
  EXPECT_FALSE(IsDeviceEvent(Torch("x", "cpu_op")));
  EXPECT_TRUE(IsCollective(Torch("HCOLL Signal", "kernel")));
  EXPECT_TRUE(IsDataConvert(Torch("aiuDataConvert", "cuda_runtime")));
}

TEST(Dialect, KinetosOwnTransferNamesAreKnown) {
  const EventLook kineto = Torch("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy");
  EXPECT_TRUE(IsHostToDevice(kineto, false));
  EXPECT_FALSE(IsHostToDevice(kineto, true));
  EXPECT_TRUE(IsHostToDevice(Torch("memcpy (HtoD)", "gpu_memcpy"), true));
}

TEST(Dialect, PhasesBySuffixAndByWord) {
  EXPECT_EQ(PhaseBySuffix("a Cmpt Exec"), Phase::kExec);
  EXPECT_EQ(PhaseBySuffix("a DmaO"), Phase::kDmaOut);
  EXPECT_EQ(PhaseBySuffix("a DmaO [2B]"), Phase::kNone);
  EXPECT_EQ(PhaseByWord("a DmaO [2B]"), Phase::kDmaOut);
  EXPECT_EQ(PhaseByWord("DmaO"), Phase::kNone);
  EXPECT_EQ(PhaseByWord("a DmaI Cmpt Exec"), Phase::kDmaIn);
}

}  // namespace
}  // namespace debrief::accel
