// What an op had to do: floating point operations and bytes, from its arguments alone.
//
// Matrix work counts a multiply-add as 2; bytes count every tensor as crossing memory once. Two
// definitions: debrief's, and TraceLens's with its habits (all matrices have the type of the first,
// a reduction has one output, attention has two bytes an element), to compare with its tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyses/profile/roofline/op_args.h"

namespace debrief::analyses::profile_roofline {

enum class Definition : uint8_t { kDebrief, kTraceLens };

enum class Category : uint8_t {
  kGemm,
  kAttention,
  kAttentionBackward,
  kUnary,
  kBinary,
  kReduce,
  kSoftmax,
  kEmbedding
};
std::string_view CategoryName(Category category);
inline bool IsMatrix(Category category) { return category <= Category::kAttentionBackward; }

struct OpWork {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t model_flops = 0;  // that count for MFU: no bias; backward of attention twice its forward
};

// Whether ops of this name have a model, and of which category.
std::optional<Category> ModelOf(std::string_view op);

// None when the arguments do not tell, or the definition has no such op.
std::optional<OpWork> WorkOf(std::string_view op, const OpArgs& args, Definition definition);

// The type that decides which peak of the device counts.
std::string_view TypeOfWork(std::string_view op, const OpArgs& args);

}  // namespace debrief::analyses::profile_roofline
