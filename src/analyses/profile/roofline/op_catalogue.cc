#include "analyses/profile/roofline/op_catalogue.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text/strings.h"

namespace debrief::analyses::profile_roofline {

namespace {

using enum Category;

// clang-format off
constexpr auto kProducts = std::to_array<OpModel>({
    {.name = "aten::mm", .category = kGemm, .parity = true},
    {.name = "aten::bmm", .category = kGemm, .parity = true},
    {.name = "aten::addmm", .category = kGemm, .parity = true, .first = 1, .bias = 0},
    {.name = "aten::baddbmm", .category = kGemm, .parity = true, .first = 1, .bias = 0},
    {.name = "aten::_scaled_mm", .category = kGemm, .parity = true, .bias = 4},
    {.name = "aten::_addmm_activation", .category = kGemm, .first = 1, .bias = 0},
    {.name = "aten::_int_mm", .category = kGemm},
    {.name = "aten::mv", .category = kGemm},
    {.name = "aten::addmv", .category = kGemm, .first = 1, .bias = 0},
    {.name = "aten::dot", .category = kGemm},
    {.name = "aten::linear", .category = kGemm, .bias = 2, .is_linear = true, .only_own_work = true},
    {.name = "vllm::rocm_unquantized_gemm", .category = kGemm, .bias = 2, .is_linear = true, .only_own_work = true},
    {.name = "aten::mkldnn_rnn_layer", .category = kGemm, .is_recurrent = true},
    {.name = "aten::mkldnn_rnn_layer_backward", .category = kGemm, .is_recurrent = true},
    {.name = "aten::_grouped_mm", .category = kGroupedGemm, .lengths = 2},
    {.name = "aten::_scaled_grouped_mm", .category = kGroupedGemm, .lengths = 4},
    {.name = "primus_turbo::grouped_gemm", .category = kGroupedGemm, .parity = true},
    {.name = "aten::convolution", .category = kConvolution, .parity = true, .bias = 2},
    {.name = "aten::convolution_backward", .category = kConvolutionBackward, .parity = true, .first = 1, .mask = 10},
});

constexpr auto kAttentions = std::to_array<OpModel>({
    {.name = "aten::_scaled_dot_product_flash_attention", .category = kAttention, .parity = true, .causal = 4, .sums = 0},
    {.name = "aten::_scaled_dot_product_efficient_attention", .category = kAttention, .parity = true, .bias = 3, .causal = 6, .sums = 4},
    {.name = "aten::_scaled_dot_product_cudnn_attention", .category = kAttention, .parity = true, .bias = 3, .causal = 6, .sums = 4},
    {.name = "aten::_scaled_dot_product_fused_attention_overrideable", .category = kAttention, .bias = 3, .causal = 5, .sums = 0},
    {.name = "aten::_scaled_dot_product_flash_attention_for_cpu", .category = kAttention, .bias = 5, .causal = 4, .sums = 0},
    {.name = "aten::_flash_attention_forward", .category = kAttention, .causal = 8, .lengths = 3, .sums = 0, .heads_first = false},
    {.name = "aten::_efficient_attention_forward", .category = kAttention, .bias = 3, .causal = 9, .lengths = 4, .sums = 10, .heads_first = false},
    {.name = "aten::_cudnn_attention_forward", .category = kAttention, .bias = 3, .causal = 10, .sums = 8},
    {.name = "flash_attn::_flash_attn_forward", .category = kAttention, .parity = true, .causal = 5, .sums = 0, .heads_first = false},
    {.name = "flash_attn::_flash_attn_varlen_forward", .category = kAttention, .parity = true, .causal = 9, .lengths = 3, .sums = 0, .heads_first = false},
    {.name = "flash_attn_3::fwd", .category = kAttention, .parity = true, .causal = 24, .sums = 0, .heads_first = false},
    {.name = "FlashAttnFunc", .category = kAttention, .parity = true, .causal = 5, .sums = 0, .heads_first = false},
    {.name = "aiter::_flash_attn_forward", .category = kAttention, .parity = true, .causal = 5, .sums = 0, .heads_first = false},
    {.name = "aiter::mha_fwd", .category = kAttention, .parity = true, .causal = 5, .sums = 0, .heads_first = false},
    {.name = "aiter::fmha_v3_fwd", .category = kAttention, .parity = true, .causal = 5, .sums = 0, .heads_first = false},
    {.name = "aten::_scaled_dot_product_flash_attention_backward", .category = kAttentionBackward, .first = 1, .causal = 11},
    {.name = "aten::_scaled_dot_product_efficient_attention_backward", .category = kAttentionBackward, .first = 1, .bias = 4, .causal = 11},
    {.name = "aten::_scaled_dot_product_cudnn_attention_backward", .category = kAttentionBackward, .first = 1, .bias = 8, .causal = 14},
    {.name = "aten::_scaled_dot_product_flash_attention_for_cpu_backward", .category = kAttentionBackward, .first = 1, .bias = 8, .causal = 7},
    {.name = "aten::_flash_attention_backward", .category = kAttentionBackward, .first = 1, .causal = 11, .lengths = 6, .heads_first = false},
    {.name = "aten::_efficient_attention_backward", .category = kAttentionBackward, .first = 1, .bias = 4, .causal = 14, .lengths = 6, .heads_first = false},
    {.name = "aten::_cudnn_attention_backward", .category = kAttentionBackward, .first = 1, .bias = 8, .causal = 14},
    {.name = "flash_attn::_flash_attn_backward", .category = kAttentionBackward, .first = 1, .causal = 11, .heads_first = false},
    {.name = "flash_attn::_flash_attn_varlen_backward", .category = kAttentionBackward, .first = 1, .causal = 15, .lengths = 9, .heads_first = false},
    {.name = "aiter::_flash_attn_backward", .category = kAttentionBackward, .first = 1, .causal = 11, .heads_first = false},
});

// `dim`: what layers and groups span; `causal`: whether statistics are of this batch.
constexpr auto kNorms = std::to_array<OpModel>({
    {.name = "aten::batch_norm", .category = kNorm, .parity = true, .bias = 1, .causal = 5},
    {.name = "aten::native_batch_norm", .category = kNorm, .parity = true, .bias = 1, .causal = 5},
    {.name = "aten::cudnn_batch_norm", .category = kNorm, .parity = true, .bias = 1, .causal = 5},
    {.name = "aten::miopen_batch_norm", .category = kNorm, .parity = true, .bias = 1, .causal = 5},
    {.name = "aten::instance_norm", .category = kNorm, .parity = true, .bias = 1, .causal = 5},
    {.name = "aten::layer_norm", .category = kNorm, .parity = true, .bias = 2},
    {.name = "aten::native_layer_norm", .category = kNorm, .parity = true, .bias = 2},
    {.name = "aten::group_norm", .category = kNorm, .parity = true, .bias = 2},
    {.name = "aten::native_group_norm", .category = kNorm, .parity = true, .bias = 1, .dim = 6},
    {.name = "aten::_fused_rms_norm", .category = kNorm, .parity = true, .bias = 2},
    {.name = "aten::rms_norm", .category = kNorm, .bias = 2},
    {.name = "aten::native_batch_norm_backward", .category = kNormBackward, .parity = true, .first = 1, .bias = 2, .causal = 7, .mask = 9},
    {.name = "aten::cudnn_batch_norm_backward", .category = kNormBackward, .parity = true, .bias = 2},
    {.name = "aten::miopen_batch_norm_backward", .category = kNormBackward, .parity = true, .bias = 2},
    {.name = "aten::native_layer_norm_backward", .category = kNormBackward, .parity = true, .first = 1, .bias = 5, .dim = 2, .mask = 7},
    {.name = "aten::native_group_norm_backward", .category = kNormBackward, .parity = true, .first = 1, .bias = 4, .dim = 8, .mask = 9},
    {.name = "aten::_fused_rms_norm_backward", .category = kNormBackward, .parity = true, .first = 1, .bias = 4, .dim = 2, .mask = 5},
});

constexpr auto kOthers = std::to_array<OpModel>({
    {.name = "aten::add_", .category = kBinary, .parity = true, .is_in_place = true},
    {.name = "aten::mul_", .category = kBinary, .parity = true, .is_in_place = true},
    {.name = "aten::div_", .category = kBinary, .parity = true, .is_in_place = true},
    {.name = "aten::addcmul", .category = kBinary, .tensors = 3},
    {.name = "aten::addcdiv", .category = kBinary, .tensors = 3},
    {.name = "aten::lerp", .category = kBinary, .tensors = 3},
    {.name = "aten::where", .category = kBinary, .tensors = 3},
    {.name = "aten::norm", .category = kReduce, .parity = true, .dim = 2},
    {.name = "aten::linalg_norm", .category = kReduce, .parity = true, .dim = 2},
    {.name = "aten::linalg_vector_norm", .category = kReduce, .dim = 2},
    {.name = "aten::embedding_dense_backward", .category = kEmbedding},
    {.name = "aten::index_select", .category = kMovement, .dim = 2},
    {.name = "aten::gather", .category = kMovement, .dim = 2},
    {.name = "aten::cat", .category = kMovement},
    {.name = "CrossEntropyFunction", .category = kLoss, .parity = true},
});
// clang-format on

// Ops whose arguments lie where most have them.
struct Names {
  Category category;
  bool parity, is_comparison;
  std::span<const std::string_view> names;
};

// clang-format off
constexpr auto kUnaryOfTraceLens = std::to_array<std::string_view>({
    "copy_", "copy", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_", "sigmoid", "rsqrt", "silu", "neg", "pow"});
constexpr auto kUnaryOps = std::to_array<std::string_view>({
    "gelu", "tanh", "exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "cos", "sin", "abs", "relu", "clamp", "fill_", "zero_",
    "masked_fill", "native_dropout", "reciprocal", "erf", "square", "floor", "ceil", "round", "trunc", "sign", "softplus", "hardtanh",
    "hardswish", "hardsigmoid", "leaky_relu", "elu", "mish", "log_sigmoid_forward", "tril", "triu", "uniform_", "normal_",
    "bernoulli_", "threshold", "flip", "roll", "nan_to_num"});
constexpr auto kUnaryTests = std::to_array<std::string_view>({"isnan", "isinf", "isfinite", "logical_not", "bitwise_not"});
constexpr auto kBinaryOfTraceLens = std::to_array<std::string_view>({"add", "mul", "div", "sigmoid_backward", "threshold_backward"});
constexpr auto kBinaryOps = std::to_array<std::string_view>({
    "sub", "rsub", "maximum", "minimum", "gelu_backward", "silu_backward", "tanh_backward", "fmod", "remainder", "atan2",
    "bitwise_and", "bitwise_or", "bitwise_xor", "hardtanh_backward", "leaky_relu_backward", "elu_backward", "softplus_backward",
    "hardswish_backward", "hardsigmoid_backward", "mish_backward", "native_dropout_backward"});
constexpr auto kBinaryTests = std::to_array<std::string_view>({
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"});
constexpr auto kReduceOfTraceLens = std::to_array<std::string_view>({
    "sum", "mean", "max", "min", "amax", "amin", "std", "var", "logsumexp", "cumsum", "cumprod"});
constexpr auto kReduceOps = std::to_array<std::string_view>({
    "argmax", "argmin", "all", "any", "prod", "nansum", "var_mean", "std_mean", "topk", "sort", "count_nonzero"});
constexpr auto kSoftmaxOps = std::to_array<std::string_view>({
    "_softmax", "_log_softmax", "_safe_softmax", "_softmax_backward_data", "_log_softmax_backward_data"});
constexpr auto kLossOps = std::to_array<std::string_view>({
    "nll_loss_forward", "nll_loss_backward", "nll_loss2d_forward", "nll_loss2d_backward", "mse_loss", "mse_loss_backward",
    "smooth_l1_loss", "smooth_l1_loss_backward", "huber_loss", "huber_loss_backward", "binary_cross_entropy",
    "binary_cross_entropy_backward"});
constexpr auto kEmbeddingOps = std::to_array<std::string_view>({"embedding"});
constexpr auto kPoolingOps = std::to_array<std::string_view>({
    "max_pool2d_with_indices", "max_pool2d_with_indices_backward", "avg_pool2d", "avg_pool2d_backward", "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward"});
constexpr auto kOptimizerOps = std::to_array<std::string_view>({"_fused_adam_", "_fused_adamw_", "_fused_sgd_", "_fused_adagrad_"});

constexpr auto kNamed = std::to_array<Names>({
    {kUnary, true, false, kUnaryOfTraceLens}, {kUnary, false, false, kUnaryOps}, {kUnary, false, true, kUnaryTests},
    {kBinary, true, false, kBinaryOfTraceLens}, {kBinary, false, false, kBinaryOps}, {kBinary, false, true, kBinaryTests},
    {kReduce, true, false, kReduceOfTraceLens}, {kReduce, false, false, kReduceOps}, {kSoftmax, false, false, kSoftmaxOps},
    {kLoss, false, false, kLossOps}, {kEmbedding, false, false, kEmbeddingOps}, {kPooling, false, false, kPoolingOps},
    {kOptimizer, false, false, kOptimizerOps}});
// clang-format on

constexpr std::string_view kAten = "aten::", kForeach = "aten::_foreach_";

// The models by name. Names that are put together are kept beside.
class Catalogue {
 public:
  Catalogue() {
    for (const Names& some : kNamed) {
      for (std::string_view name : some.names) {
        names_.push_back(std::make_unique<std::string>(std::string(kAten).append(name)));
        Add({.name = *names_.back(),
             .category = some.category,
             .parity = some.parity,
             .is_comparison = some.is_comparison});
      }
    }
    for (std::span<const OpModel> some :
         {std::span<const OpModel>(kProducts), std::span<const OpModel>(kAttentions),
          std::span<const OpModel>(kNorms), std::span<const OpModel>(kOthers)}) {
      for (const OpModel& model : some) Add(model);
    }
    AddInPlace();
  }

  const OpModel* Find(std::string_view op) const {
    const auto found = models_.find(op);
    if (found != models_.end()) return &found->second;
    if (op.starts_with("triton_tem_")) return TemplateOf(op);
    if (op.starts_with("triton_")) return &triton_;
    return op.starts_with(kForeach) ? &foreach_ : nullptr;
  }

 private:
  // Templates of products have the op in their name; a bias stands before A.
  const OpModel* TemplateOf(std::string_view op) const {
    if (Contains(op, "addmm")) return &biased_template_;
    return Contains(op, "_mm") || Contains(op, "_bmm") ? &template_ : nullptr;
  }

  void Add(const OpModel& model) { models_.emplace(model.name, model); }

  // "aten::exp_" does what "aten::exp" does, and writes into its input.
  void AddInPlace() {
    std::vector<OpModel> in_place;
    for (const auto& [name, model] : models_) {
      if (model.category != kUnary && model.category != kBinary) continue;
      if (name.ends_with('_')) continue;
      names_.push_back(std::make_unique<std::string>(std::string(name).append("_")));
      in_place.push_back(model);
      in_place.back().name = *names_.back();
      in_place.back().parity = false;
      in_place.back().is_in_place = true;
    }
    for (const OpModel& model : in_place) Add(model);
  }

  std::vector<std::unique_ptr<std::string>> names_;
  std::unordered_map<std::string_view, OpModel> models_;
  OpModel triton_ = {.name = "triton", .category = kTriton};
  OpModel template_ = {.name = "triton_tem", .category = kGemm};
  OpModel biased_template_ = {.name = "triton_tem", .category = kGemm, .first = 1, .bias = 0};
  OpModel foreach_ = {.name = "foreach", .category = kOptimizer};
};

}  // namespace

const OpModel* FindModel(std::string_view op) {
  static const Catalogue kCatalogue;
  return kCatalogue.Find(op);
}

}  // namespace debrief::analyses::profile_roofline
