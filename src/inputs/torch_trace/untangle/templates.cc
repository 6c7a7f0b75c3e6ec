#include "inputs/torch_trace/untangle/templates.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/bytes/md5.h"

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

  bool Solve(size_t header, size_t end) {
    const TangledItem& item = know_.items[header];
    end = std::min(end, header + kLongestWindow);
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
      know_.Prove(item.md5, chosen_, know_.lanes[header]);
      return true;
    }
    return false;
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
      if (std::find(tried.begin(), tried.end(), text) != tried.end()) continue;
      tried.push_back(text);
      --trials_;
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

}  // namespace

int32_t ProveByTemplates(Knowledge* know) {
  Solver solver(know);
  int32_t proved = 0;
  for (size_t i = 0; i < know->items.size(); ++i) {
    if (know->lanes[i] < 0 || !know->items[i].has_payload) continue;
    if (know->payloads.contains(know->items[i].md5)) continue;
    if (solver.Solve(i, know->ends[i])) ++proved;
  }
  return proved;
}

}  // namespace debrief::inputs::torch_trace
