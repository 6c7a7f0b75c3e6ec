// Numbers for things, given in the order of first sight.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace debrief {

template <typename T>
class Numbering {
 public:
  size_t Of(const T& thing) {
    const auto [at, is_new] = numbers_.try_emplace(thing, all_.size());
    if (is_new) all_.push_back(thing);
    return at->second;
  }
  const std::vector<T>& all() const { return all_; }

 private:
  std::unordered_map<T, size_t> numbers_;
  std::vector<T> all_;
};

}  // namespace debrief
