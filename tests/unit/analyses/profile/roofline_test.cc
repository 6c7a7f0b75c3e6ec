// Models of ops with shapes given by hand; figures were computed by hand, or stand in the tables of
// TraceLens.
#include <gtest/gtest.h>

#include "analyses/profile/roofline/op_models.h"
#include "analyses/profile/roofline/peaks.h"

namespace debrief::analyses::profile_roofline::roofline_test {

constexpr std::string_view kBf16 = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";

OpWork Strict(std::string_view op, std::string_view shapes, std::string_view types = kBf16,
              std::string_view values = "", std::string_view strides = "") {
  return WorkOf(op, ParseArgs(shapes, types, values, strides), Definition::kDebrief)
      .value_or(OpWork{.flops = -1});
}

OpWork Parity(std::string_view op, std::string_view shapes, std::string_view types = kBf16,
              std::string_view values = "") {
  return WorkOf(op, ParseArgs(shapes, types, values, ""), Definition::kTraceLens)
      .value_or(OpWork{.flops = -1});
}

TEST(Roofline, ArgumentsAsProfilersWriteThem) {
  const OpArgs args =
      ParseArgs("[[2, 3], [], [[4], [5, 6]], [7]]", R"(["float", "Scalar", "TensorList", "int"])",
                R"(["", "0.5", "", "[1, 2]"])", "[[3, 1], [], [], [0]]");
  ASSERT_EQ(args.dims.size(), 4u);
  EXPECT_EQ(args.DimsOf(0), (Dims{2, 3}));
  EXPECT_TRUE(args.DimsOf(2).empty());
  EXPECT_EQ(args.TypeOf(2), "TensorList");
  EXPECT_EQ(args.ValueOf(3), "[1, 2]");
  EXPECT_EQ(args.Stored(3), 1);
  EXPECT_EQ(args.Elements(3), 7);
  EXPECT_EQ(args.TypeOf(9), "");
}

TEST(Roofline, MatrixProducts) {
  const OpWork mm = Strict("aten::mm", "[[8944, 1024], [1024, 2816]]");
  EXPECT_EQ(mm.flops, 51'581'550'592);
  EXPECT_EQ(mm.bytes, (8944 * 1024 + 1024 * 2816 + 8944 * 2816) * 2);
  const OpWork biased = Strict("aten::addmm", "[[512], [141, 512], [512, 512]]");
  EXPECT_EQ(biased.flops, 73'996'800);
  EXPECT_EQ(biased.bytes, 814'080);
  EXPECT_EQ(biased.model_flops, 2 * 141 * 512 * 512);
  EXPECT_EQ(Parity("aten::addmm", "[[512], [141, 512], [512, 512]]").bytes, 814'080);
  const OpWork unused = Strict("aten::addmm", "[[512], [141, 512], [512, 512], [], []]", kBf16,
                               R"(["", "", "", "0", "1"])");
  EXPECT_EQ(unused.flops, 2 * 141 * 512 * 512);
  const OpWork batched = Strict("aten::bmm", "[[4, 10, 20], [4, 20, 30]]");
  EXPECT_EQ(batched.flops, 2 * 4 * 10 * 20 * 30);
}

TEST(Roofline, Attention) {
  constexpr std::string_view kShapes = "[[16, 16, 559, 64], [16, 16, 559, 64], [16, 16, 559, 64]]";
  constexpr std::string_view kCausal = R"(["", "", "", "0.", "True", "False", "0.125"])";
  constexpr std::string_view kOp = "aten::_scaled_dot_product_flash_attention";
  const OpWork parity = Parity(kOp, kShapes, kBf16, kCausal);
  EXPECT_EQ(parity.flops, 10'239'377'408);
  EXPECT_EQ(parity.bytes, 73'269'248);
  EXPECT_EQ(Strict(kOp, kShapes, kBf16, kCausal).flops, int64_t{2} * 256 * (559 * 560 / 2) * 128);
  EXPECT_EQ(Strict(kOp, kShapes).flops, int64_t{2} * 256 * 559 * 559 * 128);
  const OpWork backward = Strict("aten::_scaled_dot_product_flash_attention_backward",
                                 "[[1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4], [1, 2, 8, 4]]");
  EXPECT_EQ(backward.flops, 2 * 2 * 64 * 20);
  EXPECT_EQ(backward.model_flops, 2 * (2 * 2 * 64 * 8));
}

TEST(Roofline, Elementwise) {
  EXPECT_EQ(Parity("aten::copy_", "[[16, 559, 1024], [16, 559, 1024], []]",
                   R"(["float", "c10::BFloat16", "Scalar"])")
                .bytes,
            9'158'656 * 6);
  const OpWork product =
      Parity("aten::mul", "[[16, 559, 1024], [16, 559, 1]]", R"(["float", "float"])");
  EXPECT_EQ(product.flops, 9'158'656);
  EXPECT_EQ(product.bytes, 4 * (2 * 9'158'656 + 16 * 559));
  const OpWork number = Strict("aten::add", "[[100], []]", R"(["float", "Scalar"])");
  EXPECT_EQ(number.bytes, 800);
  EXPECT_EQ(Parity("aten::add", "[[100], []]", R"(["float", "Scalar"])").bytes, 804);
  const OpWork expanded =
      Strict("aten::add", "[[10, 20], [10, 20]]", R"(["float", "float"])", "", "[[20, 1], [0, 1]]");
  EXPECT_EQ(expanded.bytes, 4 * (200 + 20 + 200));
  EXPECT_EQ(Strict("aten::gt", "[[100], []]", R"(["float", "Scalar"])").bytes, 500);
}

TEST(Roofline, Reductions) {
  constexpr std::string_view kShapes = "[[16, 559, 1024], [], [], []]";
  constexpr std::string_view kTypes = R"(["float", "ScalarList", "Scalar", ""])";
  constexpr std::string_view kValues = R"(["", "[-1]", "True", ""])";
  EXPECT_EQ(Parity("aten::mean", kShapes, kTypes, kValues).bytes, 36'634'628);
  EXPECT_EQ(Strict("aten::mean", kShapes, kTypes, kValues).bytes, 36'670'400);
  EXPECT_EQ(Strict("aten::min", "[[512, 512], [512, 512]]", R"(["long int", "long int"])").bytes,
            6'291'456);
}

TEST(Roofline, WhatCannotBeTold) {
  EXPECT_EQ(Strict("aten::mm", "").flops, -1);
  EXPECT_EQ(Strict("aten::mm", "[[9000000000000, 9000000000000], [3, 4]]").flops, -1);
  EXPECT_EQ(Strict("aten::mm", "[[-4, 3], [3, 4]]").flops, -1);
  EXPECT_EQ(Strict("aten::unknown", "[[4]]").flops, -1);
  EXPECT_EQ(Strict("aten::mm", "[[[[").flops, -1);
  EXPECT_EQ(Parity("aten::gelu", "[[100]]").flops, -1);
}

TEST(Roofline, PeaksGoByTheLongestName) {
  EXPECT_EQ(PeaksOf("NVIDIA H200", 0)->memory, 4800);
  EXPECT_EQ(PeaksOf("NVIDIA H100 80GB HBM3", 85'000'000'000)->bf16, 989.4);
  EXPECT_EQ(PeaksOf("NVIDIA GB200", 0)->bf16, 2500);
  EXPECT_EQ(PeaksOf("NVIDIA A100-SXM4-40GB", 42'000'000'000)->memory, 1555);
  EXPECT_EQ(PeaksOf("NVIDIA A100-SXM4-80GB", 85'000'000'000)->memory, 2039);
  EXPECT_EQ(PeaksOf("NVIDIA A10", 24'000'000'000)->bf16, 125);
  EXPECT_EQ(PeaksOf("Toy GPU", 1), nullptr);
  EXPECT_EQ(PrecisionOf("float", "sm80_xmma_gemm_f32f32_tf32f32_f32"), "tf32");
  EXPECT_EQ(PrecisionOf("float", "ampere_sgemm_128x64_tn"), "fp32");
}

}  // namespace debrief::analyses::profile_roofline::roofline_test
