#include "analyses/flight/tensor_bytes.h"

#include <charconv>

#include "torch/dtype.h"

namespace debrief::analyses::flight {

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
