// Pieces of the islands about collectives: texts that repeat and lists of ranks.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/writer.h"
#include "outputs/report/html/cut_text.h"

namespace debrief::outputs::html {

// Texts by number. Hostile dumps have different ones in every row, so there is a bound on all.
class Texts {
 public:
  explicit Texts(size_t most_bytes) : most_bytes_(most_bytes) {}

  // -1 for none, and for those that no longer fit.
  int64_t Add(std::string_view text);

  // "texts": [...]
  void Write(JsonWriter& json) const;

 private:
  const size_t most_bytes_;
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::vector<std::string> all_;
  size_t bytes_ = 0;
};

// [[first, step, count], ...] of equidistant ranks; at most `most` runs.
void WriteRuns(JsonWriter& json, std::string_view key, std::span<const int64_t> ranks, size_t most);

}  // namespace debrief::outputs::html
