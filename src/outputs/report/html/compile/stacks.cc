// Island "stacks": of each job one tree of frames, in which the stacks of all its ranks are joined,
// and the compilations that began at its nodes.
//
//   {"frames": [["/home/user/train.py", "forward", 27, true]],      file, function, line, user's
//   own
//    "trees": [{"job": 0, "parent": [-1, 0], "frame": [0, 3],       by node; parents come first
//               "node": [1], "input": [0], "rank": [0], "life": [0], "id": ["0/0"],
//               "seconds": [1.25], "status": ["ok"]}],              by compilation
//    "left_out": 0}                                                 compilations beyond the bounds
//
// web/src/compile/stacks.ts reads it. A compilation stands where its first attempt began. Cost: one
// pass over compile_trie_node, compile_trie_end and compile_span with a look-up for each row.
#include <map>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/pools/numbering.h"
#include "model/compile/frames.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "tables/compile_span.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostNodes = 100'000;  // of all trees
constexpr size_t kMostEnds = 50'000;
constexpr int32_t kMostDepth = 400;  // the page walks trees by recursion
constexpr size_t kLongestStackText = 400;

// A number that is -1 where there is none, as indices of the page are.
constexpr int32_t kNowhere = -1;

struct Tree {
  std::map<std::pair<int32_t, FrameId>, int32_t> children;  // parent and frame -> node
  std::vector<int32_t> parent;
  std::vector<int32_t> depth;
  std::vector<size_t> frame;  // in the list of frames
  std::vector<int32_t> end_node;
  std::vector<size_t> end_row;   // of compile_span
  std::vector<StringId> status;  // by end
};

class Stacks {
 public:
  explicit Stacks(const Model& model)
      : model_(model),
        nodes_(model.tables.Get<CompileTrieNodeTable>()),
        ends_(model.tables.Get<CompileTrieEndTable>()),
        spans_(model.tables.Get<CompileSpanTable>()) {}

  void Collect() {
    for (size_t row = 0; row < nodes_.size(); ++row)
      if (IsStart(nodes_.trie[row])) AddNode(row);
    std::map<std::pair<int32_t, int64_t>, size_t> end_of;  // input and entry
    for (size_t row = 0; row < ends_.size(); ++row)
      if (IsStart(ends_.trie[row])) end_of.emplace(EntryOf(ends_, row), row);
    for (size_t row = 0; row < spans_.size(); ++row) {
      const auto end = end_of.find(EntryOf(spans_, row));
      if (end != end_of.end()) AddEnd(row, end->second);
    }
  }

  std::string Json() const {
    std::string out;
    if (ends_.size() == 0) return out;
    JsonWriter json(&out);
    json.BeginObject();
    WriteFrames(json);
    json.Key("trees").BeginArray();
    for (const auto& [job, tree] : trees_) WriteTree(job, tree, json);
    json.EndArray().Field("left_out", left_out_).EndObject();
    return out;
  }

 private:
  bool IsStart(StringId trie) const { return model_.pools.Text(trie) == "starts"; }

  template <typename Table>
  static std::pair<int32_t, int64_t> EntryOf(const Table& table, size_t row) {
    return {table.input[row], table.entry[row]};
  }

  // Nodes beyond the bound stand for the last one above them.
  void AddNode(size_t row) {
    const int32_t input = nodes_.input[row];
    const auto above = merged_.find({input, nodes_.parent[row]});
    const int32_t parent = above == merged_.end() ? kNowhere : above->second;
    const auto frame = model_.pools.GetStack(nodes_.frame[row]);
    merged_[{input, nodes_.node[row]}] =
        frame.empty() ? parent : Child(trees_[nodes_.job[row]], parent, frame.front());
  }

  int32_t Child(Tree& tree, int32_t parent, FrameId frame) {
    const auto found = tree.children.find({parent, frame});
    if (found != tree.children.end()) return found->second;
    const int32_t depth = parent == kNowhere ? 0 : tree.depth[static_cast<size_t>(parent)] + 1;
    if (node_count_ == kMostNodes || depth == kMostDepth) return parent;
    ++node_count_;
    tree.depth.push_back(depth);
    const auto node = static_cast<int32_t>(tree.parent.size());
    tree.parent.push_back(parent);
    tree.frame.push_back(frames_.Of(frame));
    tree.children.emplace(std::pair(parent, frame), node);
    return node;
  }

  void AddEnd(size_t span, size_t end) {
    const auto node = merged_.find({ends_.input[end], ends_.node[end]});
    if (node == merged_.end() || node->second == kNowhere) return;
    if (end_count_ == kMostEnds) {
      ++left_out_;
      return;
    }
    ++end_count_;
    Tree& tree = trees_[spans_.job[span]];
    tree.end_node.push_back(node->second);
    tree.end_row.push_back(span);
    tree.status.push_back(ends_.status[end]);
  }

  void WriteFrames(JsonWriter& json) const {
    json.Array("frames", frames_.all(), [&](FrameId id) {
      const Frame& frame = model_.pools.GetFrame(id);
      const std::string_view file = ShortPath(model_.pools.Text(frame.file));
      json.BeginArray().Value(file.substr(0, kLongestStackText));
      json.Value(model_.pools.Text(frame.function).substr(0, kLongestStackText));
      json.Value(frame.line).Value(IsUserFile(file)).EndArray();
    });
  }

  void WriteTree(int32_t job, const Tree& tree, JsonWriter& json) const {
    json.BeginObject().Field("job", job);
    json.ListField("parent", tree.parent).ListField("frame", tree.frame);
    json.ListField("node", tree.end_node);
    const auto ends = [&](std::string_view key, auto value) {
      json.Array(key, tree.end_row, [&](size_t row) { json.Value(value(row)); });
    };
    ends("input", [&](size_t row) { return spans_.input[row]; });
    ends("rank", [&](size_t row) { return spans_.rank[row]; });
    ends("life", [&](size_t row) { return spans_.life[row]; });
    ends("id", [&](size_t row) {
      return model_.pools.Text(spans_.compile_id[row]).substr(0, kLongestStackText);
    });
    ends("seconds", [&](size_t row) { return spans_.seconds[row]; });
    json.Array("status", tree.status, [&](StringId id) { json.Value(model_.pools.Text(id)); });
    json.EndObject();
  }

  const Model& model_;
  const CompileTrieNodeTable& nodes_;
  const CompileTrieEndTable& ends_;
  const CompileSpanTable& spans_;
  std::map<int32_t, Tree> trees_;                          // by job
  std::map<std::pair<int32_t, int32_t>, int32_t> merged_;  // input and node -> node of the job
  Numbering<FrameId> frames_;
  size_t node_count_ = 0;
  size_t end_count_ = 0;
  size_t left_out_ = 0;
};

}  // namespace

std::string StacksJson(const Model& model) {
  Stacks stacks(model);
  stacks.Collect();
  return stacks.Json();
}

}  // namespace debrief::outputs::html
