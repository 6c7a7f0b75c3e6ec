#include "inputs/torch_trace/untangle.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/bytes/md5.h"
#include "inputs/torch_trace/untangle/model.h"
#include "inputs/torch_trace/untangle/search.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr size_t kMostTemplates = 64;
constexpr size_t kLongestTemplate = 48;  // lines
constexpr size_t kLongestWindow = 4096;  // items between a header and the next of its lane
constexpr int32_t kTrials = 10000;       // lines hashed for one payload, over all templates

using Shapes = std::vector<uint64_t>;

std::vector<Shapes> CollectTemplates(const Knowledge& know) {
  std::map<Shapes, int32_t> counts;
  for (const auto& [digest, payload] : know.payloads) {
    if (payload.size() < 3 || payload.size() > kLongestTemplate) continue;
    if (know.lines[payload[0]].opens == 0) continue;
    Shapes shapes;
    for (uint32_t item : payload) shapes.push_back(know.lines[item].shape);
    ++counts[shapes];
  }
  std::vector<std::pair<int32_t, Shapes>> by_count;
  for (const auto& [shapes, count] : counts) by_count.emplace_back(-count, shapes);
  std::sort(by_count.begin(), by_count.end());
  if (by_count.size() > kMostTemplates) by_count.resize(kMostTemplates);
  std::vector<Shapes> templates;
  for (auto& [count, shapes] : by_count) templates.push_back(std::move(shapes));
  return templates;
}

class Solver {
 public:
  explicit Solver(Knowledge* know) : know_(*know), templates_(CollectTemplates(*know)) {
    for (size_t i = 0; i < know_.items.size(); ++i) {
      if (know_.lanes[i] < 0) ++unclaimed_[know_.lines[i].text];
    }
    for (const auto& [digest, payload] : know_.payloads) Claim(payload);
  }

  void Solve(size_t header, size_t end) {
    const TangledItem& item = know_.items[header];
    end = std::min(end, header + kLongestWindow);
    know_.work += static_cast<int64_t>(20 * (end - header));
    GroupByShape(header, end);
    digest_ = &item.md5;
    trials_ = kTrials;
    for (const Shapes& shapes : templates_) {
      if (!std::all_of(shapes.begin(), shapes.end(),
                       [&](uint64_t shape) { return options_.contains(shape); })) {
        continue;
      }
      shapes_ = &shapes;
      chosen_.clear();
      if (!Choose(Md5())) continue;
      Claim(chosen_);
      return know_.Prove(item.md5, chosen_, know_.lanes[header]);
    }
  }

 private:
  void Claim(const std::vector<uint32_t>& payload) {
    for (uint32_t item : payload) --unclaimed_[know_.lines[item].text];
  }

  void GroupByShape(size_t header, size_t end) {
    options_.clear();
    for (size_t i = header + 1; i < end; ++i) {
      if (know_.lanes[i] >= 0 || !know_.lines[i].json) continue;
      if (unclaimed_[know_.lines[i].text] <= 0) continue;
      options_[know_.lines[i].shape].push_back(static_cast<uint32_t>(i));
    }
  }

  // Depth first over the lines of the template; of equal lines the earliest leaves most room.
  bool Choose(const Md5& prefix) {
    if (chosen_.size() == shapes_->size()) return Md5(prefix).Final() == *digest_;
    const std::vector<uint32_t>& options = options_.find((*shapes_)[chosen_.size()])->second;
    auto from = chosen_.empty() ? options.begin()
                                : std::upper_bound(options.begin(), options.end(), chosen_.back());
    std::vector<uint64_t> tried;
    for (; from != options.end() && trials_ > 0; ++from) {
      uint64_t text = know_.lines[*from].text;
      know_.work += static_cast<int64_t>(tried.size() / 8);
      if (std::find(tried.begin(), tried.end(), text) != tried.end()) continue;
      tried.push_back(text);
      --trials_;
      know_.work += static_cast<int64_t>(100 + know_.items[*from].text.size() / 2);
      Md5 md5 = prefix;
      if (!chosen_.empty()) md5.Update("\n");
      md5.Update(know_.items[*from].text);
      chosen_.push_back(*from);
      if (Choose(md5)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  Knowledge& know_;
  std::vector<Shapes> templates_;
  std::unordered_map<uint64_t, int32_t> unclaimed_;  // by text: lines in no proved payload
  std::unordered_map<uint64_t, std::vector<uint32_t>> options_;  // lines of the window by shape
  const Digest* digest_ = nullptr;
  const Shapes* shapes_ = nullptr;
  std::vector<uint32_t> chosen_;
  int32_t trials_ = 0;
};

// Finds small JSON payloads without following the stream: a payload proved before is a template of
// shapes (`{`, a name, a time, ...), and each line of another payload of this kind is one of the
// lines of that shape between its header and the next header of its lane. A time stamp has as many
// candidates as events overlap, most other lines one or two, so a few hundred checksums find what
// the search loses when many lanes write the same event at once: there, which lane got the next of
// eight equal lines stays open for too long.
// Proves what it can. Cost: a bounded number of checksums a payload.
void ProveByTemplates(Knowledge* know, const UntangleLimits& limits) {
  Solver solver(know);
  for (size_t i = 0; i < know->items.size() && know->WorkLeft(limits) >= 0; ++i) {
    if (know->lanes[i] < 0 || !know->items[i].has_payload) continue;
    if (know->payloads.contains(know->items[i].md5)) continue;
    solver.Solve(i, know->ends[i]);
  }
}

void Check(Knowledge* know, size_t header, const std::vector<uint32_t>& payload) {
  const TangledItem& item = know->items[header];
  if (!item.has_payload || know->payloads.contains(item.md5)) return;
  if (know->Checksum(payload) == item.md5) know->Prove(item.md5, payload, know->lanes[header]);
}

// The second cheap hypothesis: the lanes write in a fixed rotation, the same number of lines each
// (strict alternation is 1). It is read off the first turn and followed until a header contradicts.
// Proves the payloads that fit. O(items).
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
    if (know->lanes[i] < 0 || !items[i].has_payload || know->payloads.contains(items[i].md5))
      continue;
    std::vector<uint32_t> payload;
    for (size_t at = i + 1; at < items.size() && know->lanes[at] < 0; ++at)
      payload.push_back(static_cast<uint32_t>(at));
    Check(know, i, payload);
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
    bool holds = know.Checksum(lines[lane]) == know.items[static_cast<size_t>(header[lane])].md5;
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
  know.proved_before_search = know.proved_lines;
  for (int32_t beam : limits.beams) {
    Search search(&know, limits, beam);
    Untangled found = Verify(know, search.Run());
    if (found.restored > best.restored) best = std::move(found);
    best.gave_up = search.gave_up() && best.lost > 0;
    if (best.lost == 0 || search.gave_up()) break;
    ProveByTemplates(&know, limits);
  }
  best.least_work_left = std::max<int64_t>(0, know.WorkLeft(limits));
  return best;
}

}  // namespace debrief::inputs::torch_trace
