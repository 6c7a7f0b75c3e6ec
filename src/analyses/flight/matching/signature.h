// What two members must agree on when they do the same collective, as one number.
//
// The number stands for op, sizes and types, as far as they must be equal on all members: an
// all_to_all may have other sizes on every rank, a v-form (all_gather_v) on one of its sides, and
// of an op with a root each member is compared by its own tensor alone. Signatures are compared a
// million times and looked into a few times, so they are interned.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::analyses::flight {

enum class Signature : uint32_t {};  // 0: not known

// The shape of an op for the rules about sizes.
enum class OpShape : uint8_t {
  kSame,
  kAllToAll,
  kRooted,
  kSameOutput,  // all_gather_v: every member gives another size, and gets all of them
  kSameInput,   // reduce_scatter_v: the reverse
};
OpShape ShapeOf(std::string_view op);

// Which side of an op with a root holds the member's own tensor? The other side is a tensor for
// each member at the root, and nothing ([], [[0]]) elsewhere. Backends and versions differ in which
// side they record as input (a scatter of PyTorch 2.11 has the list of its root as output), so the
// texts decide: the side with one tensor, the larger when both have one.
enum class Side : uint8_t { kInput, kOutput, kNeither };
Side OwnSide(std::string_view input_sizes, std::string_view output_sizes);

struct SignatureParts {
  StringId op = StringId::kNone;
  StringId input_sizes = StringId::kNone;
  StringId output_sizes = StringId::kNone;
  StringId input_dtypes = StringId::kNone;
  StringId output_dtypes = StringId::kNone;
  uint32_t inner = 0;  // of a region: the signature so far, and one more op
  bool operator==(const SignatureParts&) const = default;
};

class SignaturePool {
 public:
  Signature Intern(const SignatureParts& parts);
  const SignatureParts& Get(Signature signature) const {
    return parts_[static_cast<uint32_t>(signature)];
  }

 private:
  struct Hash {
    size_t operator()(const SignatureParts& parts) const;
  };
  std::unordered_map<SignatureParts, Signature, Hash> ids_;
  std::vector<SignatureParts> parts_{1};
  SignatureParts last_;  // collectives repeat: the one before is often the same
  Signature last_id_{};
};

// Elements of all tensors of "[[4, 4], [8]]": 24. A tensor without dimensions has one.
int64_t CountElements(std::string_view sizes);

// The same, tensor by tensor: 16, 8.
std::vector<int64_t> CountTensors(std::string_view sizes);

// Bytes of tensors "[[4, 4], [8]]" of types "Float, Half": 80. One type may stand for all of them.
// -1 when sizes or types do not tell, or when they are too large to be true.
int64_t TensorBytes(std::string_view sizes, std::string_view dtypes);

}  // namespace debrief::analyses::flight
