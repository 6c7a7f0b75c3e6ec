// What texts of Nsight Systems tell; whole exports are in the goldens.
#include <gtest/gtest.h>

#include "inputs/nsys/call_name.h"
#include "inputs/nsys/ids.h"
#include "torch/nvtx_text.h"

namespace debrief {
namespace nsys_test {

using namespace inputs::nsys;  // NOLINT: what is tested

TEST(Nsys, RangesOfEmitNvtx) {
  const NvtxText op = ReadNvtxText(
      "aten::addmm, seq = 12, op_id = 34, sizes = [[8], [8, 4], []], input_op_ids = [(3,0)]");
  EXPECT_EQ(op.name, "aten::addmm");
  EXPECT_EQ(op.sequence, 12);
  EXPECT_EQ(op.shapes, "[[8], [8, 4], []]");
  EXPECT_TRUE(op.is_op);
  EXPECT_TRUE(ReadNvtxText("aten::add").is_op);
  EXPECT_TRUE(ReadNvtxText("AddBackward0, seq = 3").is_op);
}

TEST(Nsys, RangesOfPeople) {
  for (auto text : {"step 12", "nccl:all_reduce", "Model::forward", "::x", "", "load, op_id = 7",
                    "x, sizes = [[1, 2]"}) {
    EXPECT_FALSE(ReadNvtxText(text).is_op) << text;
  }
  EXPECT_EQ(ReadNvtxText("load, op_id = 7").name, "load");
  EXPECT_EQ(ReadNvtxText("x, seq = 99999999999999999999").sequence, kNone64);
}

TEST(Nsys, Nccl) {
  EXPECT_TRUE(IsNcclRange("NCCL", "ncclAllReduce"));
  EXPECT_TRUE(IsNcclRange("NCCL", "ncclSend"));
  EXPECT_FALSE(IsNcclRange("NCCL", "ncclCommInitRank"));
  EXPECT_FALSE(IsNcclRange("NCCL", "ncclGroupEnd"));
  EXPECT_FALSE(IsNcclRange("", "ncclAllReduce"));
  EXPECT_EQ(PayloadNumber(R"({"Message size [bytes]": 4096})", "Message size [bytes]"), 4096);
  EXPECT_EQ(PayloadNumber("{}", "Message size [bytes]"), kNone64);
  EXPECT_EQ(PayloadNumber(R"({"Message size [bytes]")", "Message size [bytes]"), kNone64);
}

TEST(Nsys, NamesOfCalls) {
  EXPECT_EQ(WithoutVersion("cudaMalloc_v3020"), "cudaMalloc");
  EXPECT_EQ(WithoutVersion("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(WithoutVersion("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(WithoutVersion("cuMemcpyHtoD_v2"), "cuMemcpyHtoD");
  EXPECT_EQ(WithoutVersion("a_v"), "a_v");
}

TEST(Nsys, PackedNumbers) {
  constexpr int64_t kThread = int64_t{1} << 48 | int64_t{4711} << 24 | 99;
  EXPECT_EQ(PidOf(kThread), 4711);
  EXPECT_EQ(TidOf(kThread), 99);
  EXPECT_EQ(PidOf(-1), 0xffffff);
  EXPECT_EQ(OrMinusOne(4294967295), -1);
  EXPECT_EQ(Narrow(int64_t{1} << 40), kNone32);
}

}  // namespace nsys_test
}  // namespace debrief
