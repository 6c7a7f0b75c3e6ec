// A tree of stacks as speedscope's JSON (https://www.speedscope.app/file-format-schema.json), type
// "sampled": a stack is a list of numbers of frames, and its weight the time that it took itself.
//
//   {"profiles": [{"type": "sampled", "name": "python", "unit": "nanoseconds",
//                  "samples": [[0, 1], [0]], "weights": [52400, 300], ...}],
//    "shared": {"frames": [{"name": "train.py(3): step"}, {"name": "aten::mm"}]}}
//
// Cost: one sort of the stacks, then one step for each frame of those that are taken.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "base/json/writer.h"
#include "base/version.h"
#include "outputs/report/html/speedscope.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kBytesOfNumber = 6;  // in a sample, with its comma; weights have more digits
constexpr size_t kBytesOfWeight = 14;
constexpr size_t kBytesOfFrame = 12;  // {"name":""}

class FlameWriter {
 public:
  FlameWriter(const StackTree& tree, size_t most_bytes)
      : nodes_(tree.nodes()), root_(nodes_.size()), depth_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto parent = static_cast<size_t>(nodes_[i].parent);
      root_[i] = nodes_[i].parent < 0 ? i : root_[parent];
      depth_[i] = nodes_[i].parent < 0 ? 0 : depth_[parent] + 1;
    }
    Choose(most_bytes);
  }

  FlameText Write(std::string_view title) {
    JsonWriter json(&text_.json);
    json.BeginObject().Field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.Field("name", title).Field("exporter", fmt::format("debrief {}", kVersion));
    const auto roots = OfRoots();
    json.Field("activeProfileIndex", Richest(roots)).Key("profiles").BeginArray();
    for (const auto& [root, stacks] : roots) WriteProfile(root, stacks, json);
    json.EndArray().Key("shared").BeginObject().Key("frames").BeginArray();
    for (std::string_view name : frames_) json.BeginObject().Field("name", name).EndObject();
    json.EndArray().EndObject().EndObject();
    return std::move(text_);
  }

 private:
  using Stacks = std::vector<size_t>;

  // The stacks with most time, as many as there is room for.
  void Choose(size_t most_bytes) {
    std::vector<size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t i) { return nodes_[i].self_ns <= 0 || depth_[i] == 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return nodes_[a].self_ns > nodes_[b].self_ns; });
    size_t bytes = 0;
    for (size_t i : order) {
      text_.total_ns += nodes_[i].self_ns;
      bytes += kBytesOfWeight + depth_[i] * kBytesOfNumber + nodes_[i].name.size() + kBytesOfFrame;
      if (bytes > most_bytes) {
        text_.left_out_ns += nodes_[i].self_ns;
      } else {
        taken_.push_back(i);
      }
    }
    std::sort(taken_.begin(), taken_.end());
  }

  // Threads and streams with their stacks, in the order of first sight.
  std::vector<std::pair<size_t, Stacks>> OfRoots() const {
    std::vector<std::pair<size_t, Stacks>> all;
    std::unordered_map<size_t, size_t> place;
    for (size_t i : taken_) {
      const auto [at, is_new] = place.try_emplace(root_[i], all.size());
      if (is_new) all.emplace_back(root_[i], Stacks());
      all[at->second].second.push_back(i);
    }
    return all;
  }

  int64_t TimeOf(const Stacks& stacks) const {
    int64_t time = 0;
    for (size_t i : stacks) time += nodes_[i].self_ns;
    return time;
  }

  // What a reader sees first: the thread that did most different things, not one that waits.
  static size_t Richest(const std::vector<std::pair<size_t, Stacks>>& roots) {
    const auto most = std::max_element(roots.begin(), roots.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    return static_cast<size_t>(most - roots.begin());
  }

  size_t NumberOf(std::string_view name) {
    const auto [at, is_new] = numbers_.try_emplace(name, frames_.size());
    if (is_new) frames_.push_back(name);
    return at->second;
  }

  void WriteStack(size_t node, JsonWriter& json) {
    std::vector<size_t> path;
    for (size_t at = node; nodes_[at].parent >= 0; at = static_cast<size_t>(nodes_[at].parent))
      path.push_back(NumberOf(nodes_[at].name));
    json.BeginArray();
    for (size_t i = path.size(); i-- > 0;) json.Value(path[i]);
    json.EndArray();
  }

  void WriteProfile(size_t root, const Stacks& stacks, JsonWriter& json) {
    json.BeginObject().Field("type", "sampled").Field("name", nodes_[root].name);
    json.Field("unit", "nanoseconds").Field("startValue", 0).Field("endValue", TimeOf(stacks));
    json.Key("samples").BeginArray();
    for (size_t i : stacks) WriteStack(i, json);
    json.EndArray().Key("weights").BeginArray();
    for (size_t i : stacks) json.Value(nodes_[i].self_ns);
    json.EndArray().EndObject();
  }

  const std::span<const StackTree::Node> nodes_;
  std::vector<size_t> root_;   // of each node
  std::vector<size_t> depth_;  // 0: a thread or stream
  Stacks taken_;
  std::unordered_map<std::string_view, size_t> numbers_;
  std::vector<std::string_view> frames_;
  FlameText text_;
};

}  // namespace

FlameText TimelineFlame(const StackTree& tree, std::string_view title, size_t most_bytes) {
  return FlameWriter(tree, most_bytes).Write(title);
}

}  // namespace debrief::outputs::html
