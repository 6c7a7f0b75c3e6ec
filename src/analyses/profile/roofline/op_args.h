// Arguments of an op as profilers write them: shapes, types, values and strides, each a JSON list
// with one element for each argument.
//
//   [[8944, 1024], [1024, 2816], []]   ["c10::BFloat16", "c10::BFloat16", "Scalar"]   ["", "", "1"]
//
// A shape [] is a number, a tensor that is not given or one without dimensions; the type tells.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace debrief::analyses::profile_roofline {

using Dims = std::vector<int64_t>;

struct OpArgs {
  std::vector<Dims> dims, strides;
  std::vector<std::string> types, values;

  const Dims& DimsOf(size_t argument) const;
  std::string_view TypeOf(size_t argument) const;
  std::string_view ValueOf(size_t argument) const;

  bool IsTensor(size_t argument) const { return !DimsOf(argument).empty(); }
  bool IsTrue(size_t argument) const { return ValueOf(argument) == "True"; }
  int64_t Elements(size_t argument) const;  // 1 without dimensions
  // Elements that are in memory: those that an expanded tensor repeats count once.
  int64_t Stored(size_t argument) const;
};

OpArgs ParseArgs(std::string_view shapes, std::string_view types, std::string_view values,
                 std::string_view strides);

// Bytes of an element of "c10::BFloat16"; 0 of what is no type of a tensor.
int64_t BytesOfType(std::string_view type);

// The numbers in "[-1, 2]" or "3".
Dims NumbersOf(std::string_view text);

int64_t ProductOf(const Dims& dims);

}  // namespace debrief::analyses::profile_roofline
