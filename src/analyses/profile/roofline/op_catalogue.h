// Which ops have a model, and where among their arguments is what (positions from 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analyses/profile/roofline/op_models.h"

namespace debrief::analyses::profile_roofline {

inline constexpr size_t kNoArgument = SIZE_MAX;

struct OpModel {
  std::string_view name;
  Category category = Category::kUnary;
  bool parity = false;           // TraceLens has a model of it, too
  size_t first = 0;              // A, q, x, or the only tensor
  size_t bias = kNoArgument;     // of products and normalisation; of attention the mask
  size_t causal = kNoArgument;   // of attention; of normalisation whether it trains
  size_t lengths = kNoArgument;  // of attention of packed sequences: where each begins, then the
                                 // same of keys and the longest of both
  size_t sums = kNoArgument;     // of attention: whether sums of rows are written; first: always
  bool heads_first = true;       // of attention: [batch, heads, tokens, width]
  size_t dim = 1;                // of a reduction: its dimensions; of normalisation what it spans
  size_t mask = kNoArgument;     // of a backward: which gradients are wanted
  size_t tensors = 2;            // of elementwise ops: arguments that may be tensors
  bool is_in_place = false;
  bool is_comparison = false;
  bool is_linear = false;     // of products: B is [N, K]
  bool is_recurrent = false;  // a layer over time: input, weights of input and state
  bool only_own_work = false;
};

// Null when there is none. An op in place ("aten::exp_") is known by the op of its name.
const OpModel* FindModel(std::string_view op);

}  // namespace debrief::analyses::profile_roofline
