#include "inputs/torch_trace/untangle/json_shape.h"

#include "inputs/torch_trace/untangle/model.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr int32_t kBreach = 12 * kBit;   // what JSON forbids
constexpr int32_t kOddStart = 5 * kBit;  // a first line that looks like a later one
constexpr int32_t kJsonInText = 4 * kBit;

}  // namespace

int32_t JsonShape::Step(const Line& line) {
  if (kind_ == Kind::kNothing) return Start(line);
  if (kind_ == Kind::kText) return line.json ? kJsonInText : 0;
  if (depth_ == 0 || !line.json) return kBreach;
  return line.closes != 0 ? Close(line) : Element(line);
}

int32_t JsonShape::Start(const Line& line) {
  kind_ = line.json && line.opens != 0 && line.key == 0 ? Kind::kJson : Kind::kText;
  if (IsJson()) {
    Open(line.opens);
    return 0;
  }
  return line.json || line.indent > 0 ? kOddStart : 0;
}

int32_t JsonShape::Element(const Line& line) {
  int32_t cost = wants_element_ || just_opened_ ? 0 : kBreach;
  bool in_object = (objects_ & 1) != 0;
  if (in_object != (line.key != 0)) cost += kBreach;
  if (in_object && line.key != 0) {
    uint64_t bit = uint64_t{1} << (line.key >> 58);
    uint64_t& keys = keys_[depth_ % kLevels];
    // Two keys may share a bit, so a second one is only suspect.
    if ((keys & bit) != 0) cost += 2 * kBit;
    keys |= bit;
  }
  wants_element_ = line.comma;
  just_opened_ = false;
  if (line.opens != 0) Open(line.opens);
  return cost;
}

int32_t JsonShape::Close(const Line& line) {
  int32_t cost = wants_element_ ? kBreach : 0;
  if (((objects_ & 1) != 0) != (line.closes == '}')) cost += kBreach;
  if (depth_ == 1 && line.comma) cost += kBreach;
  objects_ >>= 1;
  --depth_;
  wants_element_ = line.comma;
  just_opened_ = false;
  return cost;
}

void JsonShape::Open(char bracket) {
  objects_ = (objects_ << 1) | (bracket == '{' ? 1 : 0);
  ++depth_;
  keys_[depth_ % kLevels] = 0;
  just_opened_ = true;
  wants_element_ = false;
}

}  // namespace debrief::inputs::torch_trace
