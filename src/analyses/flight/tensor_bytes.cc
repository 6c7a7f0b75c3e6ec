#include "analyses/flight/tensor_bytes.h"

#include <array>
#include <charconv>
#include <utility>

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

int64_t WidthOf(std::string_view dtype) {
  static constexpr std::array<std::pair<std::string_view, int64_t>, 19> kWidths = {
      {{"Float", 4},
       {"BFloat16", 2},
       {"Half", 2},
       {"Long", 8},
       {"Int", 4},
       {"Byte", 1},
       {"Bool", 1},
       {"Double", 8},
       {"Char", 1},
       {"Short", 2},
       {"ComplexHalf", 4},
       {"ComplexFloat", 8},
       {"UInt16", 2},
       {"UInt32", 4},
       {"UInt64", 8},
       {"ComplexDouble", 16},
       {"QInt8", 1},
       {"QUInt8", 1},
       {"QInt32", 4}}};
  for (const auto& [name, width] : kWidths) {
    if (name == dtype) return width;
  }
  bool byte = dtype.starts_with("Float8_") || dtype.starts_with("Float4_");  // two of four bits
  return byte ? 1 : 0;
}

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
