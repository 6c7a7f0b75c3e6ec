#include "analyses/flight/matching/signature.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/bytes/hash.h"
#include "base/text/strings.h"
#include "torch/dtype.h"

namespace debrief::analyses::flight {

OpShape ShapeOf(std::string_view op) {
  if (op.starts_with("all_to_all") || op == "alltoall") return OpShape::kAllToAll;
  if (op == "all_gather_v" || op == "allgather") return OpShape::kSameOutput;
  if (op == "reduce_scatter_v") return OpShape::kSameInput;
  static constexpr std::array<std::string_view, 7> kRooted = {
      "gather", "gather_single", "scatter", "broadcast", "_broadcast_oop", "reduce", "_reduce_oop"};
  bool rooted = std::find(kRooted.begin(), kRooted.end(), op) != kRooted.end();
  return rooted ? OpShape::kRooted : OpShape::kSame;
}

Side OwnSide(std::string_view input_sizes, std::string_view output_sizes) {
  auto own = [](std::string_view sizes) -> int64_t {
    auto tensors = std::count(sizes.begin(), sizes.end(), '[') - 1;  // less the outer bracket
    return tensors == 1 ? CountElements(sizes) : 0;
  };
  int64_t input = own(input_sizes), output = own(output_sizes);
  if (input <= 0 && output <= 0) return Side::kNeither;
  return input >= output ? Side::kInput : Side::kOutput;
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

std::vector<int64_t> CountTensors(std::string_view sizes) {
  std::vector<int64_t> counts;
  uint64_t product = 1, number = 0;  // unsigned: hostile sizes may wrap
  bool inside = false, has_number = false;
  for (size_t i = 1; i < sizes.size(); ++i) {  // behind the outer bracket
    char c = sizes[i];
    if (c == '[') {
      inside = true;
      product = 1;
    } else if (IsDigit(c)) {
      number = number * 10 + static_cast<uint64_t>(c - '0');
      has_number = true;
    } else if (c == ',' || c == ']') {
      if (has_number) product *= number;
      number = 0;
      has_number = false;
      if (c == ']' && inside) {
        counts.push_back(static_cast<int64_t>(product));
        inside = false;
      }
    }
  }
  return counts;
}

int64_t CountElements(std::string_view sizes) {
  uint64_t total = 0;
  for (int64_t count : CountTensors(sizes)) total += static_cast<uint64_t>(count);
  return static_cast<int64_t>(total);
}

namespace {

constexpr int64_t kTooMany = int64_t{1} << 50;

// Takes the next type off "Float, Half"; the last one stays.
std::string_view NextType(std::string_view& dtypes) {
  size_t comma = dtypes.find(", ");
  std::string_view type = dtypes.substr(0, comma);
  if (comma != std::string_view::npos) dtypes.remove_prefix(comma + 2);
  return type;
}

// Takes "4, 4]" off the text that follows a "["; the product, or -1.
int64_t TakeElements(std::string_view& text) {
  int64_t elements = 1;
  while (!text.empty() && text.front() != ']') {
    if (text.front() == ',' || text.front() == ' ') {
      text.remove_prefix(1);
      continue;
    }
    int64_t size = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0 || size > kTooMany) return -1;
    if (size != 0 && elements > kTooMany / size) return -1;
    elements *= size;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return text.empty() ? -1 : elements;
}

}  // namespace

int64_t TensorBytes(std::string_view sizes, std::string_view dtypes) {
  if (!sizes.starts_with('[') || !sizes.ends_with(']')) return -1;
  std::string_view rest = sizes.substr(1, sizes.size() - 2);
  int64_t bytes = 0;
  for (size_t open = rest.find('['); open != std::string_view::npos; open = rest.find('[')) {
    rest.remove_prefix(open + 1);
    int64_t elements = TakeElements(rest);
    int64_t width = WidthOf(NextType(dtypes));
    if (elements < 0 || width == 0) return -1;
    bytes += elements * width;
    if (bytes > kTooMany) return -1;
  }
  return bytes;
}

}  // namespace debrief::analyses::flight
