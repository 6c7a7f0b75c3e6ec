// Arguments of an op as profilers write them: shapes, types, values and strides, each a JSON list
// with one element for each argument.
//
//   [[8944, 1024], [1024, 2816], []]   ["c10::BFloat16", "c10::BFloat16", "Scalar"]   ["", "", "1"]
//
// A shape [] is a number, a tensor that is not given or one without dimensions; the type tells. A
// list of tensors has the shapes of all, or [] where the profiler found it too long to write.
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
  std::vector<std::vector<Dims>> lists;  // of arguments that are lists of tensors

  const Dims& DimsOf(size_t argument) const;
  std::string_view TypeOf(size_t argument) const;
  std::string_view ValueOf(size_t argument) const;

  bool IsTensor(size_t argument) const { return !DimsOf(argument).empty(); }
  bool IsTrue(size_t argument) const { return ValueOf(argument) == "True"; }
  int64_t Elements(size_t argument) const;  // 1 without dimensions
  // Elements that are in memory: those that an expanded tensor repeats count once.
  int64_t Stored(size_t argument) const;
  // Bytes of what is in memory; 0 of what is no tensor.
  int64_t StoredBytes(size_t argument) const;
  // Elements of all tensors of a list; 0 when it is none, or its shapes are not written.
  int64_t ListElements(size_t argument) const;
};

OpArgs ParseArgs(std::string_view shapes, std::string_view types, std::string_view values,
                 std::string_view strides);

// Bytes of an element of "c10::BFloat16"; 0 of what is no type of a tensor.
int64_t BytesOfType(std::string_view type);

// Bytes of an element of the type that PyTorch numbers so (ScalarType), as arguments name an
// output; 0 when the text is no such number.
int64_t BytesOfScalarType(std::string_view number);

// The numbers in "[-1, 2]" or "3".
Dims NumbersOf(std::string_view text);

// The elements of "[True, False, True]" or of any JSON list, as texts: commas in brackets and
// quotes part nothing.
std::vector<std::string_view> ElementsOf(std::string_view list);

int64_t ProductOf(const Dims& dims);

}  // namespace debrief::analyses::profile_roofline
