#include "inputs/job_text/lines/device_details.h"

#include <gtest/gtest.h>

namespace debrief::inputs::job_text {

TEST(DeviceDetails, CodesOfCann) {
  const auto code = ParseDeviceDetail(
      "EI0006: [PID: 77120] 2026-03-02-09:11:20.414.120 Getting socket times out. Reason: x");
  ASSERT_TRUE(code.has_value());
  EXPECT_EQ(code->reason, "Getting socket times out. Reason: x");
  const auto inner = ParseDeviceDetail("EZ9999: Inner Error!");
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(inner->reason, "") << "says nothing";
  EXPECT_FALSE(ParseDeviceDetail("EPOCH1: 3"));
}

TEST(DeviceDetails, RankOfTorchNpu) {
  const auto named =
      ParseDeviceDetail("[ERROR] 2026-05-21 (PID:27000, Device:5, RankID:5) ERR02200");
  ASSERT_TRUE(named.has_value());
  EXPECT_EQ(named->rank, 5);
  EXPECT_EQ(ParseDeviceDetail("[ERROR] 2026 (PID:1, Device:1, RankID:-1) ERR00100")->rank, kNone32);
  EXPECT_FALSE(ParseDeviceDetail("[ERROR] could not read shard 17"));
}

TEST(DeviceDetails, RootErrorsOfXla) {
  const auto root = ParseDeviceDetail("  (0) RESOURCE_EXHAUSTED: Attempting to reserve 10.51G");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->reason, "RESOURCE_EXHAUSTED: Attempting to reserve 10.51G");
  EXPECT_FALSE(ParseDeviceDetail("(0) of 12 done: 3"));
}

}  // namespace debrief::inputs::job_text
