// The texts of one island of the timeline: each is written once, as JSON, and has a number.
//
// Names of slices are ids of the model's pool and go through a vector by id; texts that are made
// here (notes) through a pool of their own. One object serves many islands: beginning a new one
// costs what the last one used, not the size of the model's pool.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "outputs/report/html/cut_text.h"

namespace debrief::outputs::html {

class TimelineTexts {
 public:
  explicit TimelineTexts(const Pools& pools);

  // Forgets all; number 0 is "". Beyond `most_bytes` further texts are "".
  void Begin(size_t most_bytes);

  uint32_t Number(StringId id) {
    const uint32_t known = number_of_[static_cast<size_t>(id)];
    return known != 0 || id == StringId::kNone ? known : AddOfPool(id);
  }
  uint32_t Number(std::string_view text);

  // "a","b": the elements of a JSON list.
  const std::string& json() const { return json_; }

 private:
  uint32_t AddOfPool(StringId id);
  uint32_t Add(std::string_view text);

  const Pools& pools_;
  std::vector<uint32_t> number_of_;       // by StringId; 0: none yet
  std::vector<StringId> used_;            // those that have a number
  StringPool made_;                       // texts that are no names of the pool
  std::vector<uint32_t> number_of_made_;  // by id in made_
  std::string json_;
  size_t most_bytes_ = 0;
  uint32_t count_ = 0;
};

// Adds words, after a comma where there are some already.
template <typename... Args>
void Say(std::string& text, fmt::format_string<Args...> format, Args&&... args) {
  if (!text.empty()) text += ", ";
  fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

}  // namespace debrief::outputs::html
