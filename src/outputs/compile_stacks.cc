#include "outputs/compile_stacks.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/pools/numbering.h"
#include "model/compile/frames.h"
#include "outputs/speedscope_json.h"
#include "tables/compile_span.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"

namespace debrief::outputs {

namespace {

constexpr size_t kMostFrames = 4096;  // of a stack; parents come before children, so trees end

using NodeKey = std::pair<int32_t, int32_t>;  // input and node

// "model.py:27 forward".
std::string FrameName(const Pools& pools, FrameId id) {
  const Frame& frame = pools.GetFrame(id);
  return CollapsedFrame(fmt::format("{}:{} {}", ShortPath(pools.Text(frame.file)), frame.line,
                                    pools.Text(frame.function)));
}

class Tree {
 public:
  explicit Tree(const Model& model)
      : model_(model), nodes_(model.tables.Get<CompileTrieNodeTable>()) {
    for (size_t row = 0; row < nodes_.size(); ++row) {
      if (model.pools.Text(nodes_.trie[row]) == "starts")
        rows_.emplace(NodeKey(nodes_.input[row], nodes_.node[row]), row);
    }
  }

  // Outermost first.
  std::vector<FrameId> StackOf(int32_t input, int32_t node) const {
    std::vector<FrameId> frames;
    while (node != kNone32 && frames.size() < kMostFrames) {
      auto found = rows_.find({input, node});
      if (found == rows_.end()) break;
      const auto one = model_.pools.GetStack(nodes_.frame[found->second]);
      if (!one.empty()) frames.push_back(one.front());
      node = nodes_.parent[found->second];
    }
    return {frames.rbegin(), frames.rend()};
  }

 private:
  const Model& model_;
  const CompileTrieNodeTable& nodes_;
  std::map<NodeKey, size_t> rows_;
};

bool HasSeveralRanks(const std::vector<Sample>& samples) {
  std::set<int32_t> ranks;
  for (const Sample& sample : samples) ranks.insert(sample.rank);
  return ranks.size() > 1;
}

std::string RankName(int32_t rank) {
  return rank == kNone32 ? "unknown rank" : fmt::format("rank {}", rank);
}

std::string QuoteDot(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted += '"';
}

// How the compilations that began at one frame ended.
struct Ends {
  std::map<std::string_view, int> counts;

  std::string_view Colour() const {
    if (counts.contains("error")) return "salmon";
    if (counts.contains("missing")) return "plum";
    if (counts.contains("break")) return "khaki";
    return counts.contains("ok") ? "palegreen" : "white";
  }
};

}  // namespace

std::vector<Sample> MakeSamples(const Model& model) {
  const auto& spans = model.tables.Get<CompileSpanTable>();
  const auto& ends = model.tables.Get<CompileTrieEndTable>();
  std::map<std::pair<int32_t, int64_t>, int32_t> node_of;  // input and entry
  for (size_t row = 0; row < ends.size(); ++row) {
    if (model.pools.Text(ends.trie[row]) == "starts")
      node_of.emplace(std::pair(ends.input[row], ends.entry[row]), ends.node[row]);
  }
  const Tree tree(model);
  std::vector<Sample> samples;
  for (size_t row = 0; row < spans.size(); ++row) {
    auto node = node_of.find({spans.input[row], spans.entry[row]});
    if (node == node_of.end() || !std::isfinite(spans.seconds[row])) continue;
    samples.push_back({.input = spans.input[row],
                       .rank = spans.rank[row],
                       .frames = tree.StackOf(spans.input[row], node->second),
                       .seconds = spans.seconds[row]});
  }
  return samples;
}

std::string Collapsed(const Model& model, const std::vector<Sample>& samples) {
  const bool several = HasSeveralRanks(samples);
  std::map<std::string, double> stacks;
  for (const Sample& sample : samples) {
    std::string stack = several ? RankName(sample.rank) : "";
    for (FrameId frame : sample.frames) {
      if (!stack.empty()) stack += ';';
      stack += FrameName(model.pools, frame);
    }
    if (!stack.empty()) stacks[std::move(stack)] += sample.seconds;
  }
  std::string text;
  for (const auto& [stack, seconds] : stacks)
    text += fmt::format("{} {:.0f}\n", stack, seconds * 1e6);
  return text;
}

std::string Speedscope(const Model& model, const std::vector<Sample>& samples) {
  std::map<int32_t, std::vector<const Sample*>> by_rank;
  for (const Sample& sample : samples) by_rank[sample.rank].push_back(&sample);
  Numbering<FrameId> frames;
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  WriteSpeedscopeHead("compile time by stack", json);
  json.Array("profiles", by_rank, [&](const auto& of_rank) {
    double end = 0;
    for (const Sample* sample : of_rank.second) end += sample->seconds;
    WriteSpeedscopeProfile(
        {fmt::format("compile time, {}", RankName(of_rank.first)), "seconds"}, end, of_rank.second,
        [&](const Sample* sample) {
          std::vector<size_t> numbers;
          for (FrameId frame : sample->frames) numbers.push_back(frames.Of(frame));
          return numbers;
        },
        [](const Sample* sample) { return sample->seconds; }, json);
  });
  json.Key("shared").BeginObject();
  json.Objects("frames", frames.all(), [&](FrameId id) {
    const Frame& frame = model.pools.GetFrame(id);
    json.Field("name", FrameName(model.pools, id)).Field("file", model.pools.Text(frame.file));
    json.Field("line", frame.line);
  });
  json.EndObject().EndObject();
  return text += '\n';
}

std::string Dot(const Model& model) {
  const auto& nodes = model.tables.Get<CompileTrieNodeTable>();
  const auto& ends = model.tables.Get<CompileTrieEndTable>();
  std::map<NodeKey, Ends> ends_of;
  for (size_t row = 0; row < ends.size(); ++row) {
    if (model.pools.Text(ends.trie[row]) == "starts")
      ++ends_of[{ends.input[row], ends.node[row]}].counts[model.pools.Text(ends.status[row])];
  }
  std::string text =
      "digraph compile_stacks {\n  rankdir=LR;\n  node [shape=box, style=filled, "
      "fillcolor=white, fontname=monospace];\n";
  for (size_t row = 0; row < nodes.size(); ++row) {
    if (model.pools.Text(nodes.trie[row]) != "starts") continue;
    const auto frame = model.pools.GetStack(nodes.frame[row]);
    std::string label = frame.empty() ? "?" : FrameName(model.pools, frame.front());
    const Ends& end = ends_of[{nodes.input[row], nodes.node[row]}];
    for (const auto& [status, count] : end.counts) label += fmt::format(" [{} {}]", count, status);
    text +=
        fmt::format("  n{}_{} [label={}{}];\n", nodes.input[row], nodes.node[row], QuoteDot(label),
                    end.counts.empty() ? "" : fmt::format(", fillcolor={}", end.Colour()));
    if (nodes.parent[row] != kNone32)
      text += fmt::format("  n{0}_{1} -> n{0}_{2};\n", nodes.input[row], nodes.parent[row],
                          nodes.node[row]);
  }
  return text += "}\n";
}

}  // namespace debrief::outputs
