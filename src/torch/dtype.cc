#include "torch/dtype.h"

#include <array>
#include <utility>

namespace debrief {

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

}  // namespace debrief
