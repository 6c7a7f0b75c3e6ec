// Kernels as people call them.
#include "torch/kernel_names.h"

#include <gtest/gtest.h>

namespace debrief {
namespace {

TEST(KernelNames, KeepsWhatTellsThemApart) {
  EXPECT_EQ(
      ShortKernelName(
          "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
          "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, "
          "3ul>)"),
      "vectorized_elementwise_kernel<CUDAFunctor_add>");
  EXPECT_EQ(
      ShortKernelName("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(
      ShortKernelName(
          "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(cutlass_80::Params)"),
      "Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>");
  EXPECT_EQ(ShortKernelName("void at::native::(anonymous namespace)::reduce_kernel<float>(float*)"),
            "reduce_kernel");
}

TEST(KernelNames, LeavesOthersAlone) {
  for (std::string_view name :
       {"triton_poi_fused_gelu_0", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", ""})
    EXPECT_EQ(ShortKernelName(name), name);
}

}  // namespace
}  // namespace debrief
