// Collapsed stacks of a trace, the text that flame graphs are drawn from.
#include <cmath>
#include <map>

#include "op_trace/collapsed.h"
#include "op_trace/nesting.h"

namespace debrief::op_trace {

void CompatStacks::Add(std::string_view operation, std::optional<std::string_view> device,
                       double duration_us) {
  std::string stack = "trace;";
  stack += device.value_or("unknown");
  stack += ';';
  stack += operation;
  // As the first op traces: each op weighs a microsecond at least, and NaN weighs that.
  const double weight = std::round(duration_us > 1 ? duration_us : 1.0);
  weights_[std::move(stack)] += static_cast<uint64_t>(weight);
}

std::string CompatStacks::Text() const {
  std::string text;
  for (const auto& [stack, weight] : weights_) {
    if (!text.empty()) text += '\n';
    text += stack + ' ' + std::to_string(weight);
  }
  return text;
}

std::string FrameOf(std::string_view name) {
  std::string frame(name);
  for (char& c : frame) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return frame;
}

namespace {

std::string NestedStacks(const Trace& trace) {
  const std::vector<size_t> parents = ParentsOf(trace.entries());
  const std::vector<int64_t> self = trace.SelfTimes();
  std::map<std::string, int64_t> weights;
  std::vector<size_t> path;
  for (size_t i = 0; i < self.size(); ++i) {
    if (self[i] <= 0) continue;
    path.clear();
    for (size_t at = i; at != kNoParent; at = parents[at]) path.push_back(at);
    std::string stack = FrameOf(trace.entries()[path.back()].device.value_or("no device"));
    for (size_t at = path.size(); at-- > 0;)
      stack += ';' + FrameOf(trace.entries()[path[at]].operation);
    weights[std::move(stack)] += self[i];
  }
  std::string text;
  for (const auto& [stack, weight] : weights) text += stack + ' ' + std::to_string(weight) + '\n';
  return text;
}

}  // namespace

std::string CollapsedStacks(const Trace& trace) {
  if (trace.corners() == Corners::kRight) return NestedStacks(trace);
  CompatStacks stacks;
  for (const Entry& entry : trace.entries()) {
    stacks.Add(entry.operation,
               entry.device ? std::optional<std::string_view>(*entry.device) : std::nullopt,
               entry.DurationUs());
  }
  return stacks.Text();
}

}  // namespace debrief::op_trace
