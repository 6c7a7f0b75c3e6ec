#include "inputs/torch_trace/untangle/knowledge.h"

#include <utility>

namespace debrief::inputs::torch_trace {

Knowledge::Knowledge(std::span<const TangledItem> tangled, const std::vector<int32_t>& item_lanes,
                     int32_t lanes_in_all)
    : items(tangled),
      lanes(item_lanes),
      lane_count(lanes_in_all),
      lines(tangled.size()),
      ends(tangled.size()),
      lines_to(tangled.size() + 1),
      model(tangled.size(), lanes_in_all) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (lanes[i] < 0) lines[i] = DescribeLine(items[i].text);
    lines_to[i + 1] = lines_to[i] + (lanes[i] < 0 ? 1 : 0);
  }
  std::vector<uint32_t> next(static_cast<size_t>(lane_count), static_cast<uint32_t>(items.size()));
  for (size_t i = items.size(); i-- > 0;) {
    if (lanes[i] < 0) continue;
    ends[i] = next[static_cast<size_t>(lanes[i])];
    next[static_cast<size_t>(lanes[i])] = static_cast<uint32_t>(i);
  }
}

void Knowledge::Prove(const Digest& digest, std::vector<uint32_t> payload, int32_t lane) {
  std::vector<const Line*> content;
  for (uint32_t item : payload) content.push_back(&lines[item]);
  model.Learn(content, lane);
  payloads.emplace(digest, std::move(payload));
}

}  // namespace debrief::inputs::torch_trace
