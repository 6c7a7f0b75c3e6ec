// Models of ops with shapes given by hand; figures were computed by hand, or stand in the tables of
// TraceLens.
#include <gtest/gtest.h>

#include "analyses/profile/peaks.h"
#include "analyses/profile/roofline/generated_code.h"
#include "analyses/profile/roofline/op_models.h"

namespace debrief::analyses::profile_roofline::roofline_test {

constexpr std::string_view kBf16 = R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])";

OpWork Strict(std::string_view op, std::string_view shapes, std::string_view types = kBf16,
              std::string_view values = "", std::string_view strides = "",
              const CallFacts& facts = {}) {
  return WorkOf(op, ParseArgs(shapes, types, values, strides), Definition::kDebrief, facts)
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

// An LSTM of 24 over 5 steps of 3 sequences of width 16; a backward does both products twice.
TEST(Roofline, RecurrentLayers) {
  constexpr std::string_view kShapes = "[[5, 3, 16], [96, 16], [96, 24], [96], [96]]";
  constexpr std::string_view kFloats = R"(["float", "float", "float", "float", "float"])";
  const int64_t forward = 2 * 5 * 3 * (96 * 16 + 96 * 24);
  EXPECT_EQ(Strict("aten::mkldnn_rnn_layer", kShapes, kFloats).flops, forward);
  EXPECT_EQ(Strict("aten::mkldnn_rnn_layer_backward", kShapes, kFloats).model_flops, 2 * forward);
  EXPECT_EQ(Strict("aten::mkldnn_rnn_layer", "[[5, 3], [96, 16], [96, 24]]", kFloats).flops, -1);
}

TEST(Roofline, AttentionOfACpu) {
  constexpr std::string_view kOp = "aten::_scaled_dot_product_flash_attention_for_cpu";
  constexpr std::string_view kShapes = "[[2, 4, 24, 16], [2, 4, 40, 16], [2, 4, 40, 16]]";
  constexpr std::string_view kBackward =
      "[[2, 4, 24, 16], [2, 4, 24, 16], [2, 4, 40, 16], [2, 4, 40, 16]]";
  constexpr std::string_view kFloats = R"(["float", "float", "float", "float"])";
  EXPECT_EQ(Strict(kOp, kShapes, kFloats).flops, 491'520);
  EXPECT_EQ(Strict(std::string(kOp) + "_backward", kBackward, kFloats).model_flops, 983'040);
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

constexpr std::string_view kBf16Of3 =
    R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", ""])";

TEST(Roofline, ProductsThatSayWhatTheyWrite) {
  // fp8 in, float out, a scale for each.
  const OpWork scaled = Strict("aten::_scaled_mm", "[[64, 128], [128, 256], [1], [1], [], [], []]",
                               R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"])",
                               R"(["", "", "", "", "", "", "6"])");
  EXPECT_EQ(scaled.flops, 2 * 64 * 128 * 256);
  EXPECT_EQ(scaled.bytes, 64 * 128 + 128 * 256 + 64 * 256 * 4 + 8);
  // Two values in a byte: K is twice what is stored.
  EXPECT_EQ(Strict("aten::mm", "[[64, 128], [128, 256]]",
                   R"(["c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2"])")
                .flops,
            2 * 64 * 256 * 256);
  const OpWork linear = Strict("aten::linear", "[[2, 3, 8], [16, 8], [16]]");
  EXPECT_EQ(linear.flops, 2 * 6 * 8 * 16 + 6 * 16);
  EXPECT_EQ(linear.bytes, 2 * (48 + 128 + 16 + 96));
}

TEST(Roofline, GroupedProducts) {
  constexpr std::string_view kTypes = R"(["c10::BFloat16", "c10::BFloat16", "int"])";
  // 4 experts: [100, 8] x [4, 8, 16], and the gradients of its weights.
  const OpWork rows = Strict("aten::_grouped_mm", "[[100, 8], [4, 8, 16], [4]]", kTypes);
  EXPECT_EQ(rows.flops, 2 * 100 * 8 * 16);
  EXPECT_EQ(rows.bytes, 2 * (100 * 8 + 4 * 8 * 16 + 100 * 16));
  const OpWork weights = Strict("aten::_grouped_mm", "[[8, 100], [100, 16], [4]]", kTypes);
  EXPECT_EQ(weights.flops, 2 * 100 * 8 * 16);
  EXPECT_EQ(weights.bytes, 2 * (8 * 100 + 100 * 16 + 4 * 8 * 16));
  const OpWork equal = Strict("aten::_grouped_mm", "[[4, 10, 8], [4, 8, 16]]", kTypes);
  EXPECT_EQ(equal.flops, 4 * 2 * 10 * 8 * 16);
}

TEST(Roofline, Convolutions) {
  constexpr std::string_view kOp = "aten::convolution";
  // Of the image transformer in TraceLens's tests: 14 x 14 patches, with a bias.
  constexpr std::string_view kShapes =
      "[[4, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], [], [], []]";
  constexpr std::string_view kValues =
      R"(["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"])";
  EXPECT_EQ(Parity(kOp, kShapes, kBf16Of3, kValues).flops, 924'844'032);
  EXPECT_EQ(Parity(kOp, kShapes, kBf16Of3, kValues).bytes, 3'588'096);
  const OpWork strict = Strict(kOp, kShapes, kBf16Of3, kValues);
  EXPECT_EQ(strict.flops, 925'446'144);
  EXPECT_EQ(strict.bytes, 3'589'632);
  EXPECT_EQ(strict.model_flops, 924'844'032);
  // 2 groups: each output sees half of the inputs. y is [1, 8, 6, 6].
  const OpWork grouped = Strict(kOp, "[[1, 4, 8, 8], [8, 2, 3, 3]]", kBf16Of3,
                                R"(["", "", "", "[1]", "[0]", "[1]", "False", "[0]", "2"])");
  EXPECT_EQ(grouped.flops, 2 * (2 * 9) * (8 * 36));
  EXPECT_EQ(grouped.bytes, 2 * (4 * 64 + 8 * 2 * 9 + 8 * 36));
  // Transposed, stride 2, output padding 1: (4 - 1) * 2 - 2 + 3 + 1 = 8; 2 groups of 3 channels.
  const OpWork transposed = Strict(kOp, "[[1, 4, 4], [4, 3, 3]]", kBf16Of3,
                                   R"(["", "", "", "[2]", "[1]", "[1]", "True", "[1]", "2"])");
  EXPECT_EQ(transposed.flops, 2 * (3 * 3) * (4 * 4));
  EXPECT_EQ(transposed.bytes, 2 * (16 + 36 + 6 * 8));
}

TEST(Roofline, GradientsOfConvolutions) {
  // First layer of the residual network in TraceLens's tests: no gradient of the image.
  constexpr std::string_view kOp = "aten::convolution_backward";
  constexpr std::string_view kShapes =
      "[[10, 64, 112, 112], [10, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]";
  constexpr std::string_view kValues = R"(["", "", "", "[0]", "[2, 2]", "[3, 3]", "[1, 1]",
      "False", "[0, 0]", "1", "[False, True, False]"])";
  EXPECT_EQ(Parity(kOp, kShapes, kBf16Of3, kValues).flops, 4'720'558'080);
  EXPECT_EQ(Parity(kOp, kShapes, kBf16Of3, kValues).bytes, 38'171'392);
  EXPECT_EQ(Strict(kOp, kShapes, kBf16Of3, kValues).flops, 2'360'279'040);
  EXPECT_EQ(Strict(kOp, kShapes, kBf16Of3, kValues).bytes, 19'085'696);
}

TEST(Roofline, PackedAttention) {
  // Two sequences, 8 tokens in all, the longest 6: 36 + 4 pairs at least.
  const OpWork packed = Strict("flash_attn::_flash_attn_varlen_forward",
                               "[[8, 2, 4], [8, 2, 4], [8, 2, 4], [3], [3], [], [], [], [], []]",
                               kBf16Of3, R"(["", "", "", "", "", "6", "6", "0.", "0.5", "False"])");
  EXPECT_EQ(packed.flops, 2 * 2 * 40 * 8);
  EXPECT_FALSE(packed.estimated.empty());
  // One sequence is exact, and causal: 8 * 9 / 2 pairs; sums of 8 rows of 2 heads are written.
  const OpWork one =
      Strict("aten::_flash_attention_forward", "[[1, 8, 2, 4], [1, 8, 2, 4], [1, 8, 2, 4]]",
             kBf16Of3, R"(["", "", "", "", "", "8", "8", "0.", "True"])");
  EXPECT_EQ(one.flops, 2 * 2 * 36 * 8);
  EXPECT_EQ(one.bytes, 2 * 4 * 8 * 2 * 4 + 4 * 8 * 2);
  EXPECT_TRUE(one.estimated.empty());
  const OpWork backward =
      Strict("aten::_efficient_attention_backward",
             "[[1, 8, 2, 4], [1, 8, 2, 4], [1, 8, 2, 4], [1, 8, 2, 4]]", kBf16Of3,
             R"(["", "", "", "", "", "", "", "", "8", "8", "", "0.", "", "", "1"])");
  EXPECT_EQ(backward.flops, 2 * 2 * 36 * (3 * 4 + 2 * 4));
}

TEST(Roofline, Normalisation) {
  constexpr std::string_view kTypes =
      R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "float"])";
  constexpr std::string_view kShapes = "[[10, 64, 56, 56], [64], [64], [64], [64], [], [], []]";
  constexpr int64_t kN = 10 * 64 * 56 * 56;
  EXPECT_EQ(Parity("aten::native_batch_norm", kShapes, kTypes).flops, 10'035'584);
  EXPECT_EQ(Parity("aten::native_batch_norm", kShapes, kTypes).bytes, 8'028'928);
  const OpWork training = Strict("aten::native_batch_norm", kShapes, kTypes,
                                 R"(["", "", "", "", "", "True", "0.1", "1e-05"])");
  EXPECT_EQ(training.flops, 5 * kN + 6 * 64);
  // Parameters, running statistics read and written, mean and deviation of 64 channels.
  EXPECT_EQ(training.bytes, 4 * kN + 2 * 64 * 2 + 2 * 2 * 64 * 4 + 8 * 64);
  const OpWork eval = Strict("aten::native_batch_norm", kShapes, kTypes,
                             R"(["", "", "", "", "", "False", "0.1", "1e-05"])");
  EXPECT_EQ(eval.bytes, 4 * kN + 2 * 64 * 2 + 2 * 64 * 4);
  const OpWork layer =
      Strict("aten::layer_norm", "[[4, 197, 768], [], [768], [768], [], []]",
             R"(["c10::BFloat16", "ScalarList", "c10::BFloat16", "c10::BFloat16"])",
             R"(["", "[768]", "", "", "1e-12", "True"])");
  EXPECT_EQ(layer.flops, 3'030'528);
  EXPECT_EQ(layer.bytes, 2 * 2 * 605'184 + 2 * 2 * 768 + 8 * 788);
  const OpWork group =
      Strict("aten::group_norm", "[[2, 8, 4, 4], [], [8], [8], [], []]",
             R"(["float", "Scalar", "float", "float"])", R"(["", "4", "", "", "1e-05", "True"])");
  EXPECT_EQ(group.bytes, 2 * 4 * 256 + 2 * 4 * 8 + 8 * 2 * 4);
  const OpWork rms =
      Strict("aten::_fused_rms_norm", "[[16, 32], [], [32], []]",
             R"(["float", "ScalarList", "float", "Scalar"])", R"(["", "[32]", "", "1e-06"])");
  EXPECT_EQ(rms.flops, 16 * (2 * 32 + 2) + 2 * 512);
  EXPECT_EQ(rms.bytes, 2 * 4 * 512 + 4 * 32 + 4 * 16);
}

TEST(Roofline, GradientsOfNormalisation) {
  const OpWork batch =
      Parity("aten::native_batch_norm_backward",
             "[[10, 64, 112, 112], [10, 64, 112, 112], [64], [64], [64], [64], [64], [], [], []]",
             kBf16Of3, R"(["", "", "", "", "", "", "", "True", "1e-05", "[True, True, True]"])");
  EXPECT_EQ(batch.flops, 72'253'440);
  EXPECT_EQ(batch.bytes, 48'169'472);
  const OpWork layer = Strict(
      "aten::native_layer_norm_backward", "[[4, 8], [4, 8], [], [4, 1], [4, 1], [8], [8], []]",
      R"(["float", "float", "ScalarList", "float", "float", "float", "float"])",
      R"(["", "", "[8]", "", "", "", "", "[True, True, False]"])");
  EXPECT_EQ(layer.flops, 9 * 32);
  EXPECT_EQ(layer.bytes, 3 * 4 * 32 + 2 * 4 * 8 + 8 * 4);
}

TEST(Roofline, LossesAndMovement) {
  constexpr std::string_view kTypes = R"(["float", "long int"])";
  const OpWork nll =
      Strict("aten::nll_loss_forward", "[[1024, 50257], [1024], [], [], []]", kTypes);
  EXPECT_EQ(nll.bytes, 1024 * 4 + 1024 * 8 + 4);
  const OpWork gradient =
      Strict("aten::nll_loss_backward", "[[], [1024, 50257], [1024], [], [], [], []]",
             R"(["float", "float", "long int"])");
  EXPECT_EQ(gradient.bytes, int64_t{1024} * 50257 * 4 + 1024 * 8);
  const OpWork mse = Strict("aten::mse_loss", "[[10, 1000], [10, 1000], []]",
                            R"(["float", "float", "Scalar"])", R"(["", "", "1"])");
  EXPECT_EQ(mse.bytes, 2 * 4 * 10'000 + 4);
  const OpWork table = Strict("aten::embedding", "[[50257, 768], [4, 256]]", kTypes);
  EXPECT_EQ(table.bytes, 1024 * 8 + 2 * 1024 * 768 * 4);
  const OpWork rows =
      Strict("aten::embedding_dense_backward", "[[4, 256, 768], [4, 256], [], [], []]", kTypes,
             R"(["", "", "50257", "-1", "False"])");
  EXPECT_EQ(rows.bytes, 3 * 1024 * 768 * 4 + 1024 * 8 + int64_t{50257} * 768 * 4);
  const OpWork selected = Strict("aten::index_select", "[[100, 8], [], [10]]",
                                 R"(["float", "Scalar", "long int"])", R"(["", "0", ""])");
  EXPECT_EQ(selected.bytes, 2 * 80 * 4 + 80);
  const OpWork joined =
      Strict("aten::cat", "[[[4, 8], [4, 8]], []]", R"(["TensorList", "Scalar"])", R"(["", "1"])",
             "", {.kernel = "CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 3>"});
  EXPECT_EQ(joined.bytes, 2 * 64 * 2);
  const OpWork pooled = Strict("aten::max_pool2d_with_indices", "[[1, 2, 8, 8], [], [], [], []]",
                               R"(["float"])", R"(["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]"])");
  EXPECT_EQ(pooled.bytes, 4 * 128 + (4 + 8) * 2 * 16);
}

TEST(Roofline, Optimisers) {
  constexpr std::string_view kLists =
      "[[[4, 8], [8]], [[4, 8], [8]], [[4, 8], [8]], [[4, 8], [8]], [], []]";
  constexpr std::string_view kTypes = R"(["TensorList", "TensorList", "TensorList"])";
  const CallFacts facts{.kernel = "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>"};
  const OpWork adam = Strict("aten::_fused_adamw_", kLists, kTypes, "", "", facts);
  EXPECT_EQ(adam.flops, 12 * 40);
  EXPECT_EQ(adam.bytes, 7 * 40 * 4);
  EXPECT_TRUE(adam.estimated.empty());
  const OpWork add = Strict("aten::_foreach_add_", "[[[128, 128], [128]], [[128, 128], [128]], []]",
                            R"(["TensorList", "TensorList", "Scalar"])", "", "", facts);
  EXPECT_EQ(add.bytes, 3 * 4 * (128 * 128 + 128));
  const OpWork copy = Strict("aten::_foreach_copy_", "[[[32], [32]], [[32], [32]], []]", kTypes);
  EXPECT_EQ(copy.bytes, 2 * 4 * 64);
  EXPECT_FALSE(copy.estimated.empty());
  // The profiler writes no shapes of long lists.
  EXPECT_EQ(Strict("aten::_foreach_add_", "[[], [], []]", kTypes).flops, -1);
}

constexpr std::string_view kGenerated =
    "\t# kernel path: /tmp/x/oo/cooep7.py\n"
    "\t# Graph fragment:\n"
    "\t#   %p : Tensor \"f32[32, 256][256, 1]cuda:0\" = PlaceHolder[target=p]\n"
    "\t#   %add : Tensor \"f32[32, 256][256, 1]cuda:0\"[num_users=1] = "
    "call_function[target=torch.ops.aten.add.Tensor](args = (%p, %q), kwargs = {})\n"
    "\t#   %sin : Tensor \"f32[32, 256][256, 1]cuda:0\"[num_users=1] = "
    "call_function[target=torch.ops.aten.sin.default](args = (%add,), kwargs = {})\n"
    "\t#   %sum_1 : Tensor \"f32[256][1]cuda:0\"[num_users=1] = "
    "call_function[target=torch.ops.aten.sum.dim_IntList](args = (%sin, [0]), kwargs = {})\n"
    "\ttriton_red_fused_0 = async_compile.triton('triton_red_fused_0', '''\n"
    "\tdef triton_red_fused_0(in_out_ptr0, in_ptr0, out_ptr1, ks0, xnumel, r0_numel, XBLOCK):\n";

TEST(Roofline, CompiledKernelsByTheirCode) {
  const auto kernels = KernelsIn(kGenerated);
  ASSERT_TRUE(kernels.contains("cooep7"));
  const GeneratedKernel& kernel = kernels.at("cooep7");
  EXPECT_EQ(kernel.flops, 8192 * (1 + 4 + 1));
  EXPECT_EQ(kernel.parameters.front(), Parameter::kReadAndWritten);
  constexpr std::string_view kTypes =
      R"(["float", "float", "float", "Scalar", "Scalar", "Scalar"])";
  const OpWork known =
      Strict("triton_red_fused_0", "[[32, 256], [32, 256], [256], [], [], []]", kTypes,
             R"(["", "", "", "7", "256", "32"])", "", {.generated = &kernel});
  EXPECT_EQ(known.flops, 8192 * 6);
  EXPECT_EQ(known.bytes, 4 * (2 * 8192 + 8192 + 256));
  EXPECT_TRUE(known.estimated.empty());
  // By its name alone: what is read and written counts once.
  const OpWork guessed =
      Strict("triton_red_fused_add_sin_sum_0", "[[32, 256], [256], [], []]",
             R"(["float", "float", "Scalar", "Scalar"])", R"(["", "", "256", "32"])");
  EXPECT_EQ(guessed.flops, 8192 * 6);
  EXPECT_EQ(guessed.bytes, 4 * (8192 + 256));
  EXPECT_FALSE(guessed.estimated.empty());
  EXPECT_TRUE(KernelsIn("# kernel path: \n#   %\n#   %a : Tensor \"f32[").empty());
}

using profile::PeaksOf;
using profile::PrecisionOf;

TEST(Roofline, SizesThatMatrixUnitsCannotTake) {
  auto odd = [](std::string_view op, std::string_view shapes, std::string_view types = kBf16) {
    return OddSizeOf(op, ParseArgs(shapes, types, "", ""));
  };
  EXPECT_EQ(odd("aten::mm", "[[1024, 768], [768, 50257]]"), 50257);
  EXPECT_EQ(odd("aten::mm", "[[1024, 768], [768, 50304]]"), 0);
  EXPECT_EQ(odd("aten::mm", "[[1, 768], [768, 1024]]"), 0);
  EXPECT_EQ(odd("aten::mm", "[[1024, 768], [768, 50257]]", R"(["float", "float"])"), 0);
  EXPECT_EQ(odd("aten::add", "[[1023], [1023]]"), 0);
}

TEST(Roofline, AbsurdSizesDoNotOverflow) {
  EXPECT_EQ(Strict("aten::_scaled_dot_product_flash_attention",
                   "[[2000000000, 1, 1, 1], [2000000000, 100, 1, 1], [1, 1, 1, 2000000000]]")
                .flops,
            -1);
  EXPECT_EQ(
      Strict("aten::embedding", "[[2, 2000000000], [1000000, 1000000]]", R"(["float", "long int"])")
          .flops,
      -1);
  EXPECT_EQ(Strict("aten::bmm", "[[500, 2000000000, 1], [500, 1, 2000000000]]").flops, -1);
}

TEST(Roofline, PeaksGoByTheLongestName) {
  EXPECT_EQ(PeaksOf({.name = "NVIDIA H200"})->memory, 4800);
  EXPECT_EQ(PeaksOf({.name = "NVIDIA H200"})->link, 450);
  EXPECT_EQ(PeaksOf({"NVIDIA H100 80GB HBM3", 85'000'000'000})->bf16, 989.4);
  EXPECT_EQ(PeaksOf({.name = "NVIDIA GB200"})->bf16, 2500);
  EXPECT_EQ(PeaksOf({"NVIDIA A100-SXM4-40GB", 42'000'000'000})->memory, 1555);
  EXPECT_EQ(PeaksOf({"NVIDIA A100-SXM4-80GB", 85'000'000'000})->memory, 2039);
  EXPECT_EQ(PeaksOf({"NVIDIA A10", 24'000'000'000})->bf16, 125);
  EXPECT_FALSE(PeaksOf({"Toy GPU", 1}));
  EXPECT_EQ(PrecisionOf("float", "sm80_xmma_gemm_f32f32_tf32f32_f32"), "tf32");
  EXPECT_EQ(PrecisionOf("float", "ampere_sgemm_128x64_tn"), "fp32");
}

TEST(Roofline, PeaksOfDevicesWithoutNameAndOfParts) {
  EXPECT_EQ(PeaksOf({"", 206'000'000'000, 304, "9.4"})->memory, 5300);
  EXPECT_EQ(PeaksOf({"AMD Radeon Graphics", 68'000'000'000, 104, "9.0"})->bf16, 181);
  EXPECT_FALSE(PeaksOf({"", 1, 7, "9.4"}));
  // A slice of a device computes by its SMs.
  const auto part = PeaksOf({"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 10'000'000'000, 16, "9.0"});
  EXPECT_NEAR(part->bf16, 989.4 * 16 / 132, 1e-9);
  EXPECT_NEAR(part->memory, 3350.0 * 16 / 132, 1e-9);
}

}  // namespace debrief::analyses::profile_roofline::roofline_test
