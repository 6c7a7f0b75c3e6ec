// Collapsed stacks as the first op traces wrote them, and what a frame may hold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

// `trace;device;op 2`: microseconds, no less than one an op, nothing escaped, no line end at the
// end.
class CompatStacks {
 public:
  void Add(std::string_view operation, std::optional<std::string_view> device, double duration_us);
  std::string Text() const;

 private:
  std::map<std::string, uint64_t> weights_;
};

// Without what would end the frame or the line.
std::string FrameOf(std::string_view name);

}  // namespace debrief::op_trace
