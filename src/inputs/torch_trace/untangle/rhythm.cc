#include "inputs/torch_trace/untangle/rhythm.h"

#include <utility>

#include "base/bytes/md5.h"

namespace debrief::inputs::torch_trace {

namespace {

void Check(Knowledge* know, size_t header, const std::vector<uint32_t>& payload) {
  const TangledItem& item = know->items[header];
  if (!item.has_payload || know->payloads.contains(item.md5)) return;
  Md5 md5;
  for (size_t i = 0; i < payload.size(); ++i) {
    if (i > 0) md5.Update("\n");
    md5.Update(know->items[payload[i]].text);
  }
  if (md5.Final() == item.md5) know->Prove(item.md5, payload, know->lanes[header]);
}

}  // namespace

void ProveByRhythm(Knowledge* know) {
  const std::vector<int32_t>& lanes = know->lanes;
  size_t turn = 0;  // items in a turn: those before the first header of another lane
  while (turn < lanes.size() && lanes[turn] <= 0) ++turn;
  if (turn == lanes.size() || lanes[0] != 0) return;
  struct Open {
    size_t header = 0;
    std::vector<uint32_t> payload;
  };
  std::vector<Open> open(static_cast<size_t>(know->lane_count));
  for (size_t i = 0; i < lanes.size(); ++i) {
    size_t lane = i / turn % open.size();
    if (lanes[i] < 0) {
      open[lane].payload.push_back(static_cast<uint32_t>(i));
      continue;
    }
    if (static_cast<size_t>(lanes[i]) != lane) return;
    // Before the first header of a lane this checks against another one, which cannot fit.
    Check(know, open[lane].header, open[lane].payload);
    open[lane] = {i, {}};
  }
  for (const Open& last : open) Check(know, last.header, last.payload);
}

}  // namespace debrief::inputs::torch_trace
