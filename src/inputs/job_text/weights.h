// What makes a text large: lines and bytes by who wrote them, and by what they say.
//
//   V1115 02:33:30.010000 425 torch/_inductor/graph.py:2104] [2/1] [__output_code] x = 1
//   logger output_code, source torch/_inductor/graph.py:2104, line "x = #"
//
// A line costs one look at its head and a hash of at most 160 bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/model.h"

namespace debrief::inputs::job_text {

class LineWeights {
 public:
  // `raw` is the whole line, `text` what stands behind the marks of launchers.
  void Add(std::string_view raw, std::string_view text);
  // Those of the next range of the same text.
  void Join(const LineWeights& next);
  void Write(const Identity& who, Part& part) const;

  int64_t bytes() const { return bytes_; }

 private:
  struct Weight {
    int64_t lines = 0, bytes = 0;
    void operator+=(const Weight& other) { lines += other.lines, bytes += other.bytes; }
  };
  struct Shape {
    std::string text;
    int64_t first = 0;  // line in which it was met first, to name them in order
    Weight weight;
  };
  using Names = std::map<std::string, Weight, std::less<>>;

  static void Count(std::string_view name, const Weight& weight, Names& names);

  Names loggers_, sources_;
  std::unordered_map<uint64_t, Shape> shapes_;  // by hash
  Weight others_;                               // lines of further shapes
  int64_t lines_ = 0, bytes_ = 0;
};

}  // namespace debrief::inputs::job_text
