// Files of tritonparse, cut anywhere.
#include <gtest/gtest.h>

#include <string>

#include "inputs/tritonparse/event.h"
#include "tables/triton_kernel.h"
#include "tables/triton_launch.h"
#include "unit/inputs/input_helpers.h"

namespace debrief::testing {

namespace tritonparse_test {

constexpr std::string_view kLines =
    R"({"event_type":"compilation","pid":7,"timestamp":"2025-07-07T19:58:27.%fZ","payload":)"
    R"({"metadata":{"name":"k","hash":"aa","num_warps":8,"shared":512,"cache_hit":true,)"
    R"("target":{"backend":"cuda","arch":90}},"pt_info":{"frame_id":2,"frame_compile_id":1}}})"
    "\n"
    R"({"event_type":"launch","name":"k","grid":[4, 1, 1],"compilation_metadata":{"hash":"aa"}})"
    "\n"
    R"({"event_type":"launch","name":"k","grid":[8, 1, 1],"compilation_metadata":{"hash":"aa"}})";

TEST(TritonparseTest, TheSameInAnyPieces) {
  for (const uint64_t chunk : {1u, 7u, 100u, 1u << 20}) {
    const Part part = ImportBytes("tritonparse", kLines, chunk);
    const auto& kernels = part.tables.Get<TritonKernelTable>();
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(part.pools.Text(kernels.kernel[0]), "k");
    EXPECT_EQ(part.pools.Text(kernels.target[0]), "cuda:90");
    EXPECT_EQ(part.pools.Text(kernels.compile_id[0]), "2/1");
    EXPECT_EQ(kernels.num_warps[0], 8);
    EXPECT_EQ(kernels.shared[0], 512);
    EXPECT_EQ(kernels.cache_hit[0], 1);
    const auto& launches = part.tables.Get<TritonLaunchTable>();
    ASSERT_EQ(launches.size(), 1u);
    EXPECT_EQ(launches.launches[0], 2);
    EXPECT_EQ(part.pools.Text(launches.grid[0]), "[4, 1, 1]");
    EXPECT_EQ(TroubleOf(part), "");
  }
}

TEST(TritonparseTest, TimesThatAreNone) {
  EXPECT_EQ(inputs::tritonparse::TimeOf("2025-07-07T19:58:27.%fZ"), 1'751'918'307'000'000'000);
  EXPECT_EQ(inputs::tritonparse::TimeOf("2025-13-07T19:58:27.%fZ"), kNone64);
  EXPECT_EQ(inputs::tritonparse::TimeOf("yesterday, rather late at"), kNone64);
  EXPECT_EQ(inputs::tritonparse::TimeOf(""), kNone64);
}

}  // namespace tritonparse_test

}  // namespace debrief::testing
