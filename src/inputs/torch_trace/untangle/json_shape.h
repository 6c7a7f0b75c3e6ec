// How far a payload follows pretty-printed JSON (one element a line, indentation lost). Rules are
// costs, not vetoes: a string may look like structure.
#pragma once

#include <array>
#include <cstdint>

#include "inputs/torch_trace/untangle/line.h"

namespace debrief::inputs::torch_trace {

class JsonShape {
 public:
  // Takes the next line in; returns its cost.
  int32_t Step(const Line& line);
  bool IsJson() const { return kind_ == Kind::kJson; }
  bool IsComplete() const { return IsJson() && depth_ == 0; }

 private:
  enum class Kind : uint8_t { kNothing, kText, kJson };
  static constexpr uint32_t kLevels = 4;

  int32_t Start(const Line& line);
  int32_t Element(const Line& line);
  int32_t Close(const Line& line);
  void Open(char bracket);

  // A bit for each key of the objects that are open, a set for each of the inner levels. Deeper
  // levels share sets.
  std::array<uint64_t, kLevels> keys_ = {};
  uint64_t objects_ = 0;  // a bit for each level, innermost lowest: an object, not an array
  uint32_t depth_ = 0;
  Kind kind_ = Kind::kNothing;
  bool wants_element_ = false;  // after a comma
  bool just_opened_ = false;
};

}  // namespace debrief::inputs::torch_trace
