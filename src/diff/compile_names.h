// Names by which compilations of two runs are matched.
//
// A function is its name and file; functions of one name in one file (lambdas, methods) are
// numbered in the order of their lines: lines themselves move with every edit above them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "diff/side.h"

namespace debrief::diff {

class FunctionNames {
 public:
  explicit FunctionNames(const Side& side);

  // "forward (model.py)", of the second of that name "forward (model.py) #2". Empty where a side is
  // one compilation: whatever function that is, it is compared with the other.
  std::string Of(StringId function, StringId file, int32_t line) const;

  // Of a compilation of an input.
  std::string OfCompilation(int32_t input, StringId compile_id) const;

 private:
  const Side& side_;
  std::map<std::pair<std::string, std::string>, std::set<int32_t>> lines_;
  std::map<std::pair<int32_t, StringId>, size_t> rows_;  // of table compilation, by input and id
};

}  // namespace debrief::diff
