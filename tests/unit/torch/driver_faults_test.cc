#include "torch/driver_faults.h"

#include <gtest/gtest.h>

namespace debrief {

TEST(DriverFaults, NameTheDeviceAndItsAddress) {
  const auto ring = DriverFaultOf(
      "n7 kernel: amdgpu 0000:c5:00.0: amdgpu: ring comp_1.1.1 timeout, signaled seq=151, emitted");
  ASSERT_TRUE(ring.has_value());
  EXPECT_EQ(ring->device, "GPU");
  EXPECT_EQ(ring->address, "0000:c5:00.0");
  EXPECT_TRUE(ring->hardware);
  const auto fault =
      DriverFaultOf("amdgpu 0000:23:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24)");
  ASSERT_TRUE(fault.has_value());
  EXPECT_FALSE(fault->hardware) << "the program's doing";
  const auto old = DriverFaultOf(
      "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1, emitted");
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(old->address, "");
  const auto disk = DriverFaultOf("blk_update_request: I/O error, dev nvme2n1, sector 81234");
  ASSERT_TRUE(disk.has_value());
  EXPECT_EQ(disk->device, "disk");
}

TEST(DriverFaults, LinksComeAndGo) {
  const auto down = DriverFaultOf("mlx5_core 0000:5e:00.0 ib2: Link down");
  const auto up = DriverFaultOf("mlx5_core 0000:5e:00.0 ib2: Link up");
  ASSERT_TRUE(down && up);
  EXPECT_EQ(down->words, "link down");
  EXPECT_EQ(up->words, "");
  EXPECT_EQ(up->address, down->address);
}

TEST(DriverFaults, OtherDriversAndNoticesAreNone) {
  EXPECT_FALSE(DriverFaultOf("r8169 0000:02:00.0 eth0: Link down"));
  EXPECT_FALSE(DriverFaultOf("a program about amdgpu says: GPU reset begin"));
  EXPECT_FALSE(DriverFaultOf("amdgpu 0000:c5:00.0: amdgpu: GPU reset method support: MODE1 RESET"));
  EXPECT_FALSE(DriverFaultOf(""));
  EXPECT_FALSE(DriverFaultOf("amdgpu"));
}

}  // namespace debrief
