#include "inputs/torch_trace/untangle.h"

#include <algorithm>
#include <map>

#include "base/bytes/md5.h"
#include "inputs/torch_trace/untangle/rhythm.h"
#include "inputs/torch_trace/untangle/search.h"
#include "inputs/torch_trace/untangle/templates.h"

namespace debrief::inputs::torch_trace {

namespace {

// Per item its lane, numbered from 0 in order of appearance; -1 for lines.
std::vector<int32_t> NumberLanes(std::span<const TangledItem> items, int32_t* lane_count) {
  std::vector<int32_t> lanes(items.size(), -1);
  std::map<int, int32_t> numbers;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].lane < 0) continue;
    lanes[i] = numbers.emplace(items[i].lane, static_cast<int32_t>(numbers.size())).first->second;
  }
  *lane_count = static_cast<int32_t>(numbers.size());
  return lanes;
}

// The cheap hypothesis: the lines right after a header are its payload.
void ProveUntouched(Knowledge* know) {
  std::span<const TangledItem> items = know->items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (know->lanes[i] < 0 || !items[i].has_payload || know->payloads.contains(items[i].md5)) {
      continue;
    }
    Md5 md5;
    std::vector<uint32_t> payload;
    for (size_t at = i + 1; at < items.size() && know->lanes[at] < 0; ++at) {
      if (!payload.empty()) md5.Update("\n");
      md5.Update(items[at].text);
      payload.push_back(static_cast<uint32_t>(at));
    }
    if (md5.Final() == items[i].md5) know->Prove(items[i].md5, std::move(payload), know->lanes[i]);
  }
}

// From lanes to headers; a payload that does not hold its checksum gives its lines back.
Untangled Verify(const Knowledge& know, const std::vector<int32_t>& taken) {
  Untangled result;
  result.owner.assign(know.items.size(), -1);
  auto lane_count = static_cast<size_t>(know.lane_count);
  std::vector<int32_t> header(lane_count, -1);
  std::vector<std::vector<uint32_t>> lines(lane_count);
  auto close = [&](size_t lane) {
    if (header[lane] < 0) return;
    Md5 md5;
    for (size_t i = 0; i < lines[lane].size(); ++i) {
      if (i > 0) md5.Update("\n");
      md5.Update(know.items[lines[lane][i]].text);
    }
    bool holds = md5.Final() == know.items[static_cast<size_t>(header[lane])].md5;
    ++(holds ? result.restored : result.lost);
    if (!holds) return;
    for (uint32_t item : lines[lane]) result.owner[item] = header[lane];
  };
  for (size_t i = 0; i < know.items.size(); ++i) {
    int32_t lane = know.lanes[i] >= 0 ? know.lanes[i] : taken[i];
    if (lane < 0) continue;
    auto at = static_cast<size_t>(lane);
    if (know.lanes[i] < 0) {
      if (header[at] >= 0) lines[at].push_back(static_cast<uint32_t>(i));
      continue;
    }
    close(at);
    header[at] = know.items[i].has_payload ? static_cast<int32_t>(i) : -1;
    lines[at].clear();
  }
  for (size_t lane = 0; lane < lane_count; ++lane) close(lane);
  return result;
}

}  // namespace

Untangled Untangle(std::span<const TangledItem> items, const UntangleLimits& limits) {
  int32_t lane_count = 0;
  std::vector<int32_t> lanes = NumberLanes(items, &lane_count);
  Knowledge know(items, lanes, lane_count);
  ProveUntouched(&know);
  ProveByRhythm(&know);
  Untangled best = Verify(know, std::vector<int32_t>(items.size(), -1));
  for (int32_t beam : limits.beams) {
    Search search(&know, limits, beam);
    Untangled found = Verify(know, search.Run());
    if (found.restored > best.restored) best = std::move(found);
    if (best.lost == 0) break;
    ProveByTemplates(&know);
  }
  return best;
}

}  // namespace debrief::inputs::torch_trace
