// The kinds of ops that a worker of a pipeline does in a step, and how each behaves in a replay.
//
// An op is local (it takes its duration) or a transfer (it begins for all of its members when the
// last of them has come, and takes what it took from then on).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace debrief::analyses::what_if {

enum class OpType : uint8_t {
  kForward,
  kBackward,
  kForwardSend,
  kForwardRecv,
  kBackwardSend,
  kBackwardRecv,
  kParamsGather,
  kGradsScatter,
  kSeparateGrads,
  kEmbeddingGrads,
  kClip,
  kLayernormGrads,
  kGc,
  kOptimizer,
};
inline constexpr size_t kOpTypes = 14;

// Who has to be there before an op moves data.
enum class Meets : uint8_t {
  kNobody,    // local
  kPartner,   // the other end, in the same pipeline
  kReplicas,  // the same op of all replicas
  kEnds,      // first and last stage of the same pipeline
  kAll,       // all workers
};

struct OpTypeInfo {
  std::string_view name;    // as timelines have it
  std::string_view family;  // what is equalised together
  Meets meets = Meets::kNobody;
  bool typical_is_mean = false;  // else the median
};

const OpTypeInfo& InfoOf(OpType type);

// The type of that name; none when timelines of pipelines have no such op.
std::optional<OpType> TypeOf(std::string_view name);

inline constexpr size_t IndexOf(OpType type) { return static_cast<size_t>(type); }
inline constexpr bool IsCompute(OpType type) {
  return type == OpType::kForward || type == OpType::kBackward;
}

}  // namespace debrief::analyses::what_if
