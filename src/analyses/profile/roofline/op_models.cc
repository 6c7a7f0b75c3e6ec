#include "analyses/profile/roofline/op_models.h"

#include <algorithm>
#include <array>

#include "analyses/profile/roofline/families.h"

namespace debrief::analyses::profile_roofline {

namespace {

// Shapes that no device holds come from broken files: their products would overflow.
bool IsPlausibleShape(const Dims& dims) {
  constexpr int64_t kMostElements = int64_t{1} << 40;
  const int64_t elements = ProductOf(dims);
  return elements <= kMostElements && (elements > 0 || dims.empty()) &&
         std::ranges::all_of(dims, [](int64_t dim) { return dim < int64_t{1} << 31; });
}

bool IsPlausible(const OpArgs& args) {
  return std::ranges::all_of(args.dims, IsPlausibleShape) &&
         std::ranges::all_of(args.lists, [](const std::vector<Dims>& list) {
           return std::ranges::all_of(list, IsPlausibleShape);
         });
}

Work WorkOfMatrices(const OpModel& model, const OpArgs& args, Definition definition) {
  switch (model.category) {
    case Category::kGemm:
      return GemmWork(model, args, definition);
    case Category::kGroupedGemm:
      return GroupedGemmWork(model, args, definition);
    case Category::kConvolution:
      return ConvolutionWork(model, args, definition);
    case Category::kConvolutionBackward:
      return ConvolutionBackwardWork(model, args, definition);
    default:
      return AttentionWork(model, args, definition);
  }
}

Work WorkOfTensors(const OpModel& model, std::string_view op, const OpArgs& args,
                   Definition definition, const CallFacts& facts) {
  switch (model.category) {
    case Category::kUnary:
      return UnaryWork(model, args, definition);
    case Category::kBinary:
      return BinaryWork(model, args, definition);
    case Category::kReduce:
      return ReduceWork(model, args, definition);
    case Category::kNorm:
      return NormWork(model, args, definition);
    case Category::kNormBackward:
      return NormBackwardWork(model, args, definition);
    case Category::kSoftmax:
      return SoftmaxWork(model, args);
    case Category::kLoss:
      return LossWork(model, args);
    case Category::kEmbedding:
      return EmbeddingWork(model, args);
    case Category::kMovement:
      return MovementWork(model, args, facts);
    case Category::kPooling:
      return PoolingWork(model, args);
    case Category::kOptimizer:
      return OptimizerWork(op, args, facts);
    case Category::kTriton:
      return TritonWork(op, args, facts);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view CategoryName(Category category) {
  static constexpr std::array<std::string_view, 18> kNames = {
      "GEMM",      "grouped GEMM", "SDPA_fwd",          "SDPA_bwd",
      "CONV_fwd",  "CONV_bwd",     "elementwise unary", "elementwise binary",
      "reduce",    "NORM_fwd",     "NORM_bwd",          "softmax",
      "loss",      "embedding",    "movement",          "pooling",
      "optimizer", "triton"};
  return kNames[static_cast<size_t>(category)];
}

std::optional<OpKind> ModelOf(std::string_view op) {
  const OpModel* model = FindModel(op);
  if (model == nullptr) return std::nullopt;
  return OpKind{model->category, model->only_own_work, model->parity};
}

std::optional<OpWork> WorkOf(std::string_view op, const OpArgs& args, Definition definition,
                             const CallFacts& facts) {
  const OpModel* model = FindModel(op);
  if (model == nullptr || (definition == Definition::kTraceLens && !model->parity))
    return std::nullopt;
  if (!IsPlausible(args)) return std::nullopt;
  return IsMatrix(model->category) ? WorkOfMatrices(*model, args, definition)
                                   : WorkOfTensors(*model, op, args, definition, facts);
}

std::string_view TypeOfWork(std::string_view op, const OpArgs& args) {
  const OpModel* model = FindModel(op);
  return model == nullptr ? std::string_view() : args.TypeOf(model->first);
}

}  // namespace debrief::analyses::profile_roofline
