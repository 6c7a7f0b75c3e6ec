// What an op had to do: floating point operations and bytes, from its arguments alone.
//
// Matrix work counts a multiply-add as 2; bytes count every tensor as crossing memory once. Two
// definitions: debrief's, and TraceLens's with its habits (all matrices have the type of the first,
// a reduction has one output, attention has two bytes an element), to compare with its tables.
//
//   op_catalogue.h     which ops have a model, and where their arguments are
//   families.h         the formulas, a file a family
//   generated_code.h   compiled kernels: the graph that they compute, by the compile log
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyses/profile/roofline/op_args.h"

namespace debrief::analyses::profile_roofline {

struct GeneratedKernel;

enum class Definition : uint8_t { kDebrief, kTraceLens };

enum class Category : uint8_t {
  kGemm,
  kGroupedGemm,
  kAttention,
  kAttentionBackward,
  kConvolution,
  kConvolutionBackward,
  kUnary,
  kBinary,
  kReduce,
  kNorm,
  kNormBackward,
  kSoftmax,
  kLoss,
  kEmbedding,
  kMovement,
  kPooling,
  kOptimizer,
  kTriton,
};
std::string_view CategoryName(Category category);
inline bool IsMatrix(Category category) { return category <= Category::kConvolutionBackward; }

struct OpWork {
  int64_t flops = 0;
  int64_t bytes = 0;
  int64_t model_flops = 0;  // that count for MFU: no bias; backward of attention twice its forward
  // Why the figures are a guess, in words; empty when they are not. Guesses enter no sum of
  // savings.
  std::string_view estimated = {};
};

// What is known of a call beside its arguments.
struct CallFacts {
  std::string_view kernel;                     // name of one of its kernels
  const GeneratedKernel* generated = nullptr;  // of compiled kernels: their code
};

struct OpKind {
  Category category = Category::kUnary;
  // Only work that the op itself launched counts: of ops that mostly call others with a model.
  bool only_own_work = false;
  bool is_of_tracelens = false;  // TraceLens has a model of it, too
};

// Whether ops of this name have a model, and of which category.
std::optional<OpKind> ModelOf(std::string_view op);

// None when the arguments do not tell, or the definition has no such op.
std::optional<OpWork> WorkOf(std::string_view op, const OpArgs& args, Definition definition,
                             const CallFacts& facts = {});

// A size of a matrix product in 16 or 8 bits that matrix units cannot take in whole steps of 16
// bytes; 0 when all are even ones.
int64_t OddSizeOf(std::string_view op, const OpArgs& args);

// The type that decides which peak of the device counts.
std::string_view TypeOfWork(std::string_view op, const OpArgs& args);

}  // namespace debrief::analyses::profile_roofline
