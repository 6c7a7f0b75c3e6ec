// Which kernel does what, by name: patterns, order of rules, vendors.
#include "analyses/accel/kernel_category.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace debrief::accel {
namespace kernel_category_test {

TEST(KernelCategory, PatternsHaveStarsAndNothingElse) {
  EXPECT_TRUE(FitsPattern("abc", "abc"));
  EXPECT_FALSE(FitsPattern("abc", "abcd"));
  EXPECT_TRUE(FitsPattern("ab*", "abcd"));
  EXPECT_FALSE(FitsPattern("ab*", "cab"));
  EXPECT_TRUE(FitsPattern("*cd", "abcd"));
  EXPECT_FALSE(FitsPattern("*cd", "cda"));
  EXPECT_TRUE(FitsPattern("*b*d*", "abcde"));
  EXPECT_FALSE(FitsPattern("*d*b*", "abcde"));
  EXPECT_TRUE(FitsPattern("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(FitsPattern("a*ba", "aba-"));
  EXPECT_FALSE(FitsPattern("ab*ba", "aba"));  // the ends may not share bytes
  EXPECT_TRUE(FitsPattern("*", ""));
}

TEST(KernelCategory, KernelsOfEveryVendor) {
  auto is = [](std::string_view vendor, std::string_view kernel) {
    return CategoryOf(vendor, kernel, "");
  };
  EXPECT_EQ(is("cuda", "ampere_sgemm_128x64_tn"), "gemm");
  EXPECT_EQ(is("cuda", "nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT"), "gemm");
  EXPECT_EQ(is("cuda", "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize"), "gemm");
  EXPECT_EQ(is("cuda", "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32"), "convolution");
  EXPECT_EQ(is("cuda", "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>"),
            "attention");
  EXPECT_EQ(is("cuda",
               "void at::native::vectorized_elementwise_kernel<4, "
               "at::native::CUDAFunctor_add<float>>"),
            "elementwise");
  EXPECT_EQ(is("cuda", "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"),
            "reduce");
  EXPECT_EQ(is("cuda", "void (anonymous namespace)::softmax_warp_forward<float>"), "softmax");
  EXPECT_EQ(is("cuda", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "collective");
  EXPECT_EQ(is("cuda", "triton_red_fused_native_layer_norm_0"), "triton");
  EXPECT_EQ(is("cuda",
               "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<"
               "FusedAdamMathFunctor>"),
            "optimizer");
  EXPECT_EQ(is("rocm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV"), "gemm");
  EXPECT_EQ(is("rocm", "_ZN7ck_tile6kentryILi1ENS_13FmhaFwdKernelI"), "attention");
  EXPECT_EQ(is("rocm", "igemm_fwd_gtcx3_nhwc_bf16_bx0"), "convolution");
  EXPECT_EQ(is("xpu", "gemm_kernel"), "gemm");
  EXPECT_EQ(is("xpu", "gen_conv_kernel"), "convolution");
  EXPECT_EQ(is("aiu", "addmm_1_MatMul-BMM_1 Cmpt Exec"), "gemm");
  EXPECT_EQ(is("aiu", "softmax_3 Cmpt Exec"), "softmax");
  EXPECT_EQ(is("aiu", "SenRdmaSend_82227 [sync=AllReduce_all_reduce_4_s0_r1_0] DmaO"),
            "collective");
}

TEST(KernelCategory, TheOpTellsWhatTheKernelDoesNot) {
  EXPECT_EQ(CategoryOf("cuda", "mystery", "aten::mm"), "gemm");
  EXPECT_EQ(CategoryOf("cuda", "mystery", "aten::mystery"), "other");
  EXPECT_EQ(CategoryOf("cuda", "mystery", ""), "other");
  EXPECT_EQ(CategoryOf("cuda", "vectorized_elementwise_kernel", "aten::mm"), "elementwise");
}

TEST(KernelCategory, UnknownDevicesAreAskedByAllVendorsThatRunPyTorchsKernels) {
  EXPECT_EQ(CategoryOf("", "Cijk_Ailk", ""), "gemm");
  EXPECT_EQ(CategoryOf("", "add_11", ""), "other");  // a name of AIUs
}

TEST(KernelCategory, VendorsByDeviceAndByCall) {
  EXPECT_EQ(VendorOfDevice("NVIDIA H200"), "cuda");
  EXPECT_EQ(VendorOfDevice("Tesla V100-SXM2-16GB"), "cuda");
  EXPECT_EQ(VendorOfDevice("AMD Instinct MI300X"), "rocm");
  EXPECT_EQ(VendorOfDevice("Intel(R) Data Center GPU Max 1550"), "xpu");
  EXPECT_EQ(VendorOfDevice("AIU"), "aiu");
  EXPECT_EQ(VendorOfDevice(""), "");
  EXPECT_EQ(VendorOfCall("hipLaunchKernel"), "rocm");
  EXPECT_EQ(VendorOfCall("cudaLaunchKernel"), "cuda");
  EXPECT_EQ(VendorOfCall("aiuLaunchControlBlocks"), "aiu");
  EXPECT_EQ(VendorOfCall("Execute Graph"), "");
}

// Every rule can be the first that fits its own words: one that an earlier rule of its file hides
// would never be used.
TEST(KernelCategory, NoRuleIsHiddenByAnEarlierOne) {
  for (const CategoryRules& file : AllCategoryRules()) {
    for (const CategoryRule& rule : file.rules) {
      std::string words(rule.pattern);
      std::replace(words.begin(), words.end(), '*', '\x01');
      for (const CategoryRule& earlier : file.rules) {
        if (&earlier == &rule) break;
        bool hides = earlier.where == rule.where && FitsPattern(earlier.pattern, words);
        EXPECT_FALSE(hides && earlier.category != rule.category)
            << file.vendor << ": " << earlier.pattern << " hides " << rule.pattern;
      }
    }
  }
}

}  // namespace kernel_category_test
}  // namespace debrief::accel
