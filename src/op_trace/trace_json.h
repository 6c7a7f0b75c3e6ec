// The JSON of the first op traces, written entry by entry: for a trace, and for ops that lie
// elsewhere.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

class CompatJson {
 public:
  // Appends to `out`, which the caller may empty between entries.
  explicit CompatJson(std::string& out) : out_(out) {
    out_ += "{\n";
    Key(1, "entries");
  }
  void Add(const Entry& entry);
  void Finish(const std::map<std::string, std::string>& metadata);

 private:
  void Key(int level, std::string_view key);
  void AppendShape(int level, const Shape& shape);
  void AppendShapes(const std::vector<Shape>& shapes);

  std::string& out_;
  size_t count_ = 0;
  double total_us_ = 0;  // as the first op traces added it up
};

}  // namespace debrief::op_trace
