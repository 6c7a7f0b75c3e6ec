#include "analyses/flight/signature.h"

#include "base/bytes/hash.h"

namespace debrief::analyses::flight {

OpShape ShapeOf(std::string_view op) {
  if (op.starts_with("all_to_all") || op == "alltoall") return OpShape::kAllToAll;
  if (op == "gather") return OpShape::kGather;
  if (op == "scatter") return OpShape::kScatter;
  return OpShape::kSame;
}

size_t SignaturePool::Hash::operator()(const SignatureParts& parts) const {
  static_assert(sizeof(SignatureParts) == 6 * sizeof(uint32_t), "hashed as bytes");
  return HashBytes({reinterpret_cast<const char*>(&parts), sizeof(parts)});
}

Signature SignaturePool::Intern(const SignatureParts& parts) {
  if (parts == last_ && last_id_ != Signature{}) return last_id_;
  auto next = static_cast<Signature>(parts_.size());
  auto [found, is_new] = ids_.try_emplace(parts, next);
  if (is_new) parts_.push_back(parts);
  last_ = parts;
  last_id_ = found->second;
  return found->second;
}

int64_t CountElements(std::string_view sizes) {
  uint64_t total = 0, product = 1, number = 0;  // unsigned: hostile sizes may wrap
  bool inside = false, has_number = false;
  for (size_t i = 1; i < sizes.size(); ++i) {  // behind the outer bracket
    char c = sizes[i];
    if (c == '[') {
      inside = true;
      product = 1;
    } else if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<uint64_t>(c - '0');
      has_number = true;
    } else if (c == ',' || c == ']') {
      if (has_number) product *= number;
      number = 0;
      has_number = false;
      if (c == ']' && inside) {
        total += product;
        inside = false;
      }
    }
  }
  return static_cast<int64_t>(total);
}

}  // namespace debrief::analyses::flight
