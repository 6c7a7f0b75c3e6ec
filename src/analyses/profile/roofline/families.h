// The formulas: what an op of a family had to do. None when its arguments do not tell. Shapes have
// been checked (op_models.cc): no tensor has more than 2^40 elements.
#pragma once

#include <cstdint>
#include <optional>

#include "analyses/profile/roofline/op_catalogue.h"
#include "analyses/profile/roofline/op_models.h"

namespace debrief::analyses::profile_roofline {

using Work = std::optional<OpWork>;

// No call of an op does more, and less does not overflow when it is counted a few times.
inline constexpr int64_t kMostWork = int64_t{1} << 56;

// products.cc
Work GemmWork(const OpModel& model, const OpArgs& args, Definition definition);
Work GroupedGemmWork(const OpModel& model, const OpArgs& args, Definition definition);

// convolution.cc
Work ConvolutionWork(const OpModel& model, const OpArgs& args, Definition definition);
Work ConvolutionBackwardWork(const OpModel& model, const OpArgs& args, Definition definition);
Work PoolingWork(const OpModel& model, const OpArgs& args);

// attention.cc
Work AttentionWork(const OpModel& model, const OpArgs& args, Definition definition);

// elementwise.cc
Work UnaryWork(const OpModel& model, const OpArgs& args, Definition definition);
Work BinaryWork(const OpModel& model, const OpArgs& args, Definition definition);
Work ReduceWork(const OpModel& model, const OpArgs& args, Definition definition);

// normalisation.cc
Work NormWork(const OpModel& model, const OpArgs& args, Definition definition);
Work NormBackwardWork(const OpModel& model, const OpArgs& args, Definition definition);

// movement.cc
Work SoftmaxWork(const OpModel& model, const OpArgs& args);
Work LossWork(const OpModel& model, const OpArgs& args);
Work EmbeddingWork(const OpModel& model, const OpArgs& args);
Work MovementWork(const OpModel& model, const OpArgs& args, const CallFacts& facts);

// optimizers.cc: fused optimisers and ops on lists of tensors
Work OptimizerWork(std::string_view op, const OpArgs& args, const CallFacts& facts);

// generated_code.cc: compiled kernels
Work TritonWork(std::string_view op, const OpArgs& args, const CallFacts& facts);

// Bytes of an element, by the name of a kernel: "c10::BFloat16", "OpaqueType<2u>". 0: not told.
int64_t BytesByKernel(std::string_view kernel);

}  // namespace debrief::analyses::profile_roofline
