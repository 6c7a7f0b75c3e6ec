// What the first op traces did, written for Behaviour::kReference and for ops that lie elsewhere:
// no nesting, their JSON, their collapsed stacks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

// Entries in order of start, as a recorder without nesting would have kept them: cuts each at the
// start of the next of its thread; what was told when such an op ended is told of nothing then: it
// has no inputs and is a scalar.
void Flatten(std::span<Entry> entries);

// `trace;device;op 2`: microseconds, no less than one an op, nothing escaped, no line end at the
// end.
class CompatStacks {
 public:
  void Add(std::string_view operation, std::optional<std::string_view> device, double duration_us);
  std::string Text() const;

 private:
  std::map<std::string, uint64_t> weights_;
};

// Their JSON, entry by entry.
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

// Without what would end the frame or the line.
std::string FrameOf(std::string_view name);

}  // namespace debrief::op_trace
