#include "analyses/profile/roofline/op_models.h"

#include <algorithm>
#include <array>

namespace debrief::analyses::profile_roofline {

namespace {

constexpr size_t kNoArgument = SIZE_MAX;

// Where an op has what. `parity`: TraceLens has a model of it, too.
struct OpModel {
  std::string_view name;
  Category category;
  bool parity = false;
  size_t first = 0;             // A, q, or the only tensor
  size_t bias = kNoArgument;    // of GEMM; of attention the mask
  size_t causal = kNoArgument;  // of attention
  bool heads_first = true;      // of attention: [batch, heads, tokens, width]
  size_t dim = 1;               // of a reduction: argument that has its dimensions
  bool is_in_place = false;
  bool is_comparison = false;
};

using enum Category;

constexpr std::array kModels = std::to_array<OpModel>({
    {"aten::mm", kGemm, true},
    {"aten::bmm", kGemm, true},
    {"aten::addmm", kGemm, true, 1, 0},
    {"aten::baddbmm", kGemm, true, 1, 0},
    {"aten::_scaled_mm", kGemm, true, 0, 4},
    {"aten::_addmm_activation", kGemm, false, 1, 0},
    {"aten::_int_mm", kGemm},
    {"aten::mv", kGemm},
    {"aten::addmv", kGemm, false, 1, 0},
    {"aten::dot", kGemm},
    {"aten::_scaled_dot_product_flash_attention", kAttention, true, 0, kNoArgument, 4},
    {"aten::_scaled_dot_product_efficient_attention", kAttention, true, 0, 3, 6},
    {"aten::_scaled_dot_product_cudnn_attention", kAttention, true, 0, 3, 6},
    {"flash_attn::_flash_attn_forward", kAttention, true, 0, kNoArgument, 5, false},
    {"FlashAttnFunc", kAttention, true, 0, kNoArgument, 5, false},
    {"aiter::_flash_attn_forward", kAttention, true, 0, kNoArgument, 5, false},
    {"aiter::mha_fwd", kAttention, true, 0, kNoArgument, 5, false},
    {"aiter::fmha_v3_fwd", kAttention, true, 0, kNoArgument, 5, false},
    {"aten::_scaled_dot_product_flash_attention_backward", kAttentionBackward, false, 1,
     kNoArgument, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", kAttentionBackward, false, 1,
     kNoArgument, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", kAttentionBackward, false, 1,
     kNoArgument, 14},
    {"flash_attn::_flash_attn_backward", kAttentionBackward, false, 1, kNoArgument, 11, false},
    {"aten::copy_", kUnary, true},
    {"aten::copy", kUnary, true},
    {"aten::clamp_min", kUnary, true},
    {"aten::clamp_min_", kUnary, true},
    {"aten::clamp_max", kUnary, true},
    {"aten::clamp_max_", kUnary, true},
    {"aten::sigmoid", kUnary, true},
    {"aten::rsqrt", kUnary, true},
    {"aten::silu", kUnary, true},
    {"aten::neg", kUnary, true},
    {"aten::pow", kUnary, true},
    {"aten::gelu", kUnary},
    {"aten::tanh", kUnary},
    {"aten::exp", kUnary},
    {"aten::log", kUnary},
    {"aten::sqrt", kUnary},
    {"aten::cos", kUnary},
    {"aten::sin", kUnary},
    {"aten::abs", kUnary},
    {"aten::relu", kUnary},
    {"aten::relu_", kUnary},
    {"aten::fill_", kUnary},
    {"aten::zero_", kUnary},
    {"aten::masked_fill_", kUnary},
    {"aten::native_dropout", kUnary},
    {"aten::add", kBinary, true},
    {"aten::add_", kBinary, true, 0, kNoArgument, kNoArgument, true, 1, true},
    {"aten::mul", kBinary, true},
    {"aten::mul_", kBinary, true, 0, kNoArgument, kNoArgument, true, 1, true},
    {"aten::div", kBinary, true},
    {"aten::div_", kBinary, true, 0, kNoArgument, kNoArgument, true, 1, true},
    {"aten::sigmoid_backward", kBinary, true},
    {"aten::threshold_backward", kBinary, true},
    {"aten::sub", kBinary},
    {"aten::sub_", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, true},
    {"aten::rsub", kBinary},
    {"aten::maximum", kBinary},
    {"aten::minimum", kBinary},
    {"aten::gelu_backward", kBinary},
    {"aten::silu_backward", kBinary},
    {"aten::tanh_backward", kBinary},
    {"aten::eq", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::ne", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::lt", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::le", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::gt", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::ge", kBinary, false, 0, kNoArgument, kNoArgument, true, 1, false, true},
    {"aten::sum", kReduce, true},
    {"aten::mean", kReduce, true},
    {"aten::max", kReduce, true},
    {"aten::min", kReduce, true},
    {"aten::amax", kReduce, true},
    {"aten::amin", kReduce, true},
    {"aten::std", kReduce, true},
    {"aten::var", kReduce, true},
    {"aten::logsumexp", kReduce, true},
    {"aten::norm", kReduce, true, 0, kNoArgument, kNoArgument, true, 2},
    {"aten::linalg_norm", kReduce, true, 0, kNoArgument, kNoArgument, true, 2},
    {"aten::linalg_vector_norm", kReduce, false, 0, kNoArgument, kNoArgument, true, 2},
    {"aten::cumsum", kReduce, true},
    {"aten::cumprod", kReduce, true},
    {"aten::argmax", kReduce},
    {"aten::all", kReduce},
    {"aten::any", kReduce},
    {"aten::_softmax", kSoftmax},
    {"aten::_log_softmax", kSoftmax},
    {"aten::_softmax_backward_data", kSoftmax},
    {"aten::_log_softmax_backward_data", kSoftmax},
    {"aten::embedding", kEmbedding},
});

const OpModel* Find(std::string_view op) {
  const auto found = std::ranges::find(kModels, op, &OpModel::name);
  return found == kModels.end() ? nullptr : &*found;
}

// What TraceLens takes for the bytes of an element: a number counts, too.
int64_t ParityBytes(std::string_view type) { return type == "Scalar" ? 4 : BytesOfType(type); }

// Shapes that no device holds come from broken files: their products would overflow.
bool IsPlausible(const OpArgs& args) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  return std::ranges::all_of(args.dims, [](const Dims& dims) {
    const int64_t elements = ProductOf(dims);
    return elements <= kMostElements && (elements > 0 || dims.empty()) &&
           std::ranges::all_of(dims, [](int64_t dim) { return dim < int64_t{1} << 31; });
  });
}

struct Matrices {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

std::optional<Matrices> MatricesOf(const Dims& a, const Dims& b) {
  if (a.empty() || b.empty() || a.size() > 3 || b.size() > 3) return std::nullopt;
  Matrices found;
  if (a.size() == 3) found.batch = a[0];
  found.k = a.back();
  if (a.size() > 1) found.m = a[a.size() - 2];
  if (b.size() > 1) found.n = b.back();
  return found;
}

std::optional<OpWork> Gemm(const OpModel& model, const OpArgs& args, Definition definition) {
  const size_t a = model.first, b = a + 1;
  const auto shape = MatricesOf(args.DimsOf(a), args.DimsOf(b));
  const int64_t width = BytesOfType(args.TypeOf(a));
  if (!shape || width == 0) return std::nullopt;
  const auto& [batch, m, n, k] = *shape;
  const bool is_scaled = model.name == "aten::_scaled_mm",
             parity = definition == Definition::kTraceLens;
  const std::string_view beta = args.ValueOf(3);
  const bool is_unused = model.bias == 0 && (beta == "0" || beta == "0.");
  const bool has_bias =
      model.bias != kNoArgument && args.IsTensor(model.bias) && !(parity ? is_scaled : is_unused);
  const int64_t out_width = width == 1 ? (model.name == "aten::_int_mm" ? 4 : 2) : width;
  OpWork work;
  work.model_flops = ProductOf({2, batch, m, n, k});
  if (work.model_flops == 0) return std::nullopt;
  work.flops = work.model_flops + (has_bias ? batch * m * n : 0);
  if (parity) {
    const int64_t out = is_scaled ? out_width : width;
    work.bytes = batch * ((m * k + k * n + (has_bias ? n : 0)) * width + m * n * out);
    return work;
  }
  work.bytes = args.Stored(a) * width + args.Stored(b) * BytesOfType(args.TypeOf(b)) +
               batch * m * n * out_width;
  if (has_bias) work.bytes += args.Stored(model.bias) * BytesOfType(args.TypeOf(model.bias));
  for (size_t scale = 2; is_scaled && scale < 4; ++scale)
    work.bytes += args.Stored(scale) * BytesOfType(args.TypeOf(scale));
  return work;
}

struct Heads {
  int64_t batch = 0, heads = 0, tokens = 0, width = 0;
};

std::optional<Heads> HeadsOf(const Dims& dims, bool heads_first) {
  if (dims.size() != 4) return std::nullopt;
  return heads_first ? Heads{dims[0], dims[1], dims[2], dims[3]}
                     : Heads{dims[0], dims[2], dims[1], dims[3]};
}

// Twice the pairs of a query and a key that are computed: TraceLens halves all of them.
int64_t PairsTwice(int64_t queries, int64_t keys, bool is_causal, Definition definition) {
  if (!is_causal) return 2 * queries * keys;
  if (definition == Definition::kTraceLens) return queries * keys;
  if (keys >= queries) return 2 * queries * keys - queries * (queries - 1);
  return keys * (keys + 1) + 2 * (queries - keys) * keys;
}

std::optional<OpWork> Attention(const OpModel& model, const OpArgs& args, Definition definition) {
  const size_t first = model.first;
  const auto q = HeadsOf(args.DimsOf(first), model.heads_first);
  const auto k = HeadsOf(args.DimsOf(first + 1), model.heads_first);
  const auto v = HeadsOf(args.DimsOf(first + 2), model.heads_first);
  const bool is_causal = args.IsTrue(model.causal), parity = definition == Definition::kTraceLens;
  if (!q || !k || !v || (parity && is_causal && q->tokens != k->tokens)) return std::nullopt;
  const int64_t pairs = PairsTwice(q->tokens, k->tokens, is_causal, definition);
  const int64_t width = parity ? 2 : BytesOfType(args.TypeOf(first));
  const int64_t forward = ProductOf({q->batch, q->heads, pairs, q->width + v->width});
  if (forward == 0 || width == 0) return std::nullopt;
  const int64_t queries = q->batch * q->tokens * q->heads, keys = k->batch * k->tokens * k->heads;
  OpWork work;
  if (model.category == kAttention) {
    work.flops = work.model_flops = forward;
    work.bytes = width * (queries + keys) * (q->width + v->width);
    if (!parity && model.bias != kNoArgument)
      work.bytes += args.IsTensor(model.bias) ? args.Stored(model.bias) * width : 0;
    return work;
  }
  // All fused kernels compute the scores once more; reads q k v o do, writes dq dk dv.
  work.flops = ProductOf({q->batch, q->heads, pairs, 3 * q->width + 2 * v->width});
  if (k->heads > 0 && q->heads > k->heads)
    work.flops += ProductOf({q->batch, k->tokens, q->width + v->width, q->heads / k->heads - 1});
  work.model_flops = 2 * forward;
  work.bytes = width * (2 * queries * (q->width + v->width) + 2 * keys * (q->width + v->width)) +
               4 * q->batch * q->heads * q->tokens;
  return work;
}

std::optional<OpWork> Unary(const OpModel& model, const OpArgs& args, Definition definition) {
  const int64_t n = args.Elements(0), in = BytesOfType(args.TypeOf(0));
  if (in == 0) return std::nullopt;
  const bool has_other = args.IsTensor(1) && BytesOfType(args.TypeOf(1)) > 0;
  const int64_t other = has_other ? BytesOfType(args.TypeOf(1)) : in;
  OpWork work{.flops = n, .bytes = n * (in + other)};
  if (definition == Definition::kTraceLens) return work;
  const bool is_copy = model.name.starts_with("aten::copy");
  if (is_copy) {
    work.bytes = (has_other ? args.Stored(1) * other : 0) + n * in;
    work.flops = 0;
  } else if (model.name == "aten::fill_" || model.name == "aten::zero_") {
    work = {.flops = 0, .bytes = n * in};
  } else if (model.name == "aten::native_dropout") {
    work.bytes = n * (2 * in + 1);
  } else if (model.name == "aten::masked_fill_") {
    work.bytes = 2 * n * in + (args.IsTensor(1) ? args.Stored(1) : 0);
  } else {
    work.bytes = args.Stored(0) * in + n * in;
  }
  return work;
}

// The shape of both together, aligned at their last dimensions.
int64_t BroadcastElements(const Dims& a, const Dims& b) {
  Dims both;
  for (size_t i = 1; i <= std::max(a.size(), b.size()); ++i) {
    const int64_t from_a = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t from_b = i <= b.size() ? b[b.size() - i] : 1;
    both.push_back(from_a == 1 ? from_b : from_a);
  }
  return ProductOf(both);
}

std::optional<OpWork> Binary(const OpModel& model, const OpArgs& args, Definition definition) {
  const int64_t n = BroadcastElements(args.DimsOf(0), args.DimsOf(1));
  if (n > int64_t{1} << 50) return std::nullopt;
  if (definition == Definition::kTraceLens) {
    const int64_t a = ParityBytes(args.TypeOf(0)), b = ParityBytes(args.TypeOf(1));
    if (a == 0 || b == 0) return std::nullopt;
    const bool both = args.IsTensor(0) && args.IsTensor(1);
    const int64_t out = args.IsTensor(2) ? ParityBytes(args.TypeOf(2)) : both ? std::max(a, b) : a;
    return OpWork{.flops = n, .bytes = args.Elements(0) * a + args.Elements(1) * b + n * out};
  }
  const int64_t a = BytesOfType(args.TypeOf(0)), b = BytesOfType(args.TypeOf(1));
  if (a == 0 && b == 0) return std::nullopt;
  int64_t out =
      model.is_in_place ? a : std::max(args.IsTensor(0) ? a : 0, args.IsTensor(1) ? b : 0);
  if (out == 0) out = std::max(a, b);
  if (model.is_comparison) out = 1;
  OpWork work{.flops = n, .bytes = n * out};
  if (args.IsTensor(0)) work.bytes += args.Stored(0) * a;
  if (args.IsTensor(1)) work.bytes += args.Stored(1) * b;
  return work;
}

// Elements that a reduction leaves.
int64_t LeftOver(const OpModel& model, const OpArgs& args) {
  const Dims& shape = args.DimsOf(0);
  const Dims reduced = NumbersOf(args.ValueOf(model.dim));
  if (reduced.empty()) return 1;
  Dims left = shape;
  const auto rank = static_cast<int64_t>(shape.size());
  for (int64_t dim : reduced) {
    const int64_t at = dim < 0 ? dim + rank : dim;
    if (at >= 0 && at < rank) left[static_cast<size_t>(at)] = 1;
  }
  return ProductOf(left);
}

std::optional<OpWork> Reduce(const OpModel& model, const OpArgs& args, Definition definition) {
  const int64_t n = args.Elements(0), width = BytesOfType(args.TypeOf(0));
  if (width == 0) return std::nullopt;
  const bool is_cumulative = model.name.starts_with("aten::cum");
  const bool is_max = model.name == "aten::max" || model.name == "aten::min";
  if (definition == Definition::kTraceLens)
    return OpWork{.flops = n, .bytes = (n + (is_cumulative ? n : 1)) * width};
  // max and min of two tensors are no reductions.
  if (is_max && args.IsTensor(1)) return Binary(model, args, definition);
  const int64_t out = is_cumulative ? n : LeftOver(model, args);
  OpWork work{.flops = n, .bytes = args.Stored(0) * width + out * width};
  if (is_max && !args.ValueOf(1).empty()) work.bytes += 8 * out;
  if (model.name == "aten::argmax") work.bytes += (8 - width) * out;
  return work;
}

std::optional<OpWork> Softmax(const OpModel& model, const OpArgs& args) {
  const int64_t n = args.Elements(0), width = BytesOfType(args.TypeOf(0));
  if (width == 0) return std::nullopt;
  if (model.name.ends_with("backward_data")) return OpWork{.flops = 4 * n, .bytes = 3 * n * width};
  const int64_t out = args.IsTrue(2) ? 4 : width;
  return OpWork{.flops = 5 * n, .bytes = n * (width + out)};
}

std::optional<OpWork> Embedding(const OpArgs& args) {
  const Dims& table = args.DimsOf(0);
  const int64_t width = BytesOfType(args.TypeOf(0)), n = args.Elements(1);
  if (table.size() != 2 || width == 0) return std::nullopt;
  return OpWork{.bytes = n * BytesOfType(args.TypeOf(1)) + 2 * n * table[1] * width};
}

}  // namespace

std::string_view CategoryName(Category category) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "GEMM",   "SDPA_fwd", "SDPA_bwd", "elementwise unary", "elementwise binary",
      "reduce", "softmax",  "embedding"};
  return kNames[static_cast<size_t>(category)];
}

std::optional<Category> ModelOf(std::string_view op) {
  const OpModel* model = Find(op);
  return model == nullptr ? std::nullopt : std::optional(model->category);
}

std::optional<OpWork> WorkOf(std::string_view op, const OpArgs& args, Definition definition) {
  const OpModel* model = Find(op);
  if (model == nullptr || (definition == Definition::kTraceLens && !model->parity))
    return std::nullopt;
  if (!IsPlausible(args)) return std::nullopt;
  switch (model->category) {
    case kGemm:
      return Gemm(*model, args, definition);
    case kAttention:
    case kAttentionBackward:
      return Attention(*model, args, definition);
    case kUnary:
      return Unary(*model, args, definition);
    case kBinary:
      return Binary(*model, args, definition);
    case kReduce:
      return Reduce(*model, args, definition);
    case kSoftmax:
      return Softmax(*model, args);
    case kEmbedding:
      return Embedding(args);
  }
  return std::nullopt;
}

std::string_view TypeOfWork(std::string_view op, const OpArgs& args) {
  const OpModel* model = Find(op);
  return model == nullptr ? std::string_view() : args.TypeOf(model->first);
}

}  // namespace debrief::analyses::profile_roofline
