// What two members must agree on when they do the same collective, as one number.
//
// The number stands for op, sizes and types, as far as they must be equal on all members: an
// all_to_all may have other sizes on every rank, a gather has outputs at its root alone. Signatures
// are compared a million times and looked into a few times, so they are interned.
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
enum class OpShape : uint8_t { kSame, kAllToAll, kGather, kScatter };
OpShape ShapeOf(std::string_view op);

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

}  // namespace debrief::analyses::flight
