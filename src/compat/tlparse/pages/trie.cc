// Nodes are numbered with parents before children. Those that a stack of this tree's rank runs
// through are kept; a walk with a stack of its own then writes them, so that no depth of frames can
// overflow. Browsers give up on elements nested deeper than 512: from kMaxDepth on, branches stay
// on their level. Cost: linear in nodes and stacks.
#include <vector>

#include "compat/tlparse/names.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "tables/compile_trie_end.h"
#include "tables/compile_trie_node.h"

namespace debrief::outputs::tlparse_tree {

namespace {

constexpr size_t kMaxDepth = 150;

struct Node {
  size_t row = 0;  // of compile_trie_node
  int32_t parent = kNone32;
  bool used = false;
  std::vector<int32_t> children;  // used ones, in order
  std::vector<size_t> ends;       // rows of compile_trie_end
};

class TrieWriter {
 public:
  TrieWriter(const PageContext& context, std::string_view trie, std::string& out)
      : context_(context),
        table_(context.model.tables.Get<CompileTrieNodeTable>()),
        ends_(context.model.tables.Get<CompileTrieEndTable>()),
        out_(out) {
    ReadNodes(trie);
    ReadEnds(trie);
    MarkUsed();
  }

  bool Write() {
    if (roots_.empty()) return false;
    out_ += "<div class=\"trie stack\"><ul>\n";
    Walk();
    out_ += "</ul></div>\n";
    return true;
  }

 private:
  // One list that is open, and what is still to be written of it.
  struct Level {
    const std::vector<int32_t>* children;
    size_t next;
    bool is_list;  // opened as <details><ul>
  };

  void ReadNodes(std::string_view trie) {
    for (size_t row : RowsOfInput(table_, context_.plan.input)) {
      if (context_.Text(table_.trie[row]) != trie) continue;
      const size_t number = static_cast<size_t>(table_.node[row]);
      if (table_.node[row] < 0 || number != nodes_.size()) continue;  // numbered without gaps
      nodes_.push_back({.row = row, .parent = table_.parent[row]});
    }
  }

  void ReadEnds(std::string_view trie) {
    for (size_t row : RowsOfInput(ends_, context_.plan.input)) {
      if (context_.Text(ends_.trie[row]) != trie || !context_.RowOf(ends_.entry[row])) continue;
      if (Node* node = Find(ends_.node[row])) {
        node->ends.push_back(row);
        node->used = true;
      }
    }
  }

  Node* Find(int32_t node) {
    const bool known = node >= 0 && static_cast<size_t>(node) < nodes_.size();
    return known ? &nodes_[static_cast<size_t>(node)] : nullptr;
  }

  void MarkUsed() {
    for (size_t i = nodes_.size(); i-- > 0;) {
      if (!nodes_[i].used) continue;
      if (Node* parent = Find(nodes_[i].parent)) parent->used = true;
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].used) continue;
      Node* parent = Find(nodes_[i].parent);
      (parent == nullptr ? roots_ : parent->children).push_back(static_cast<int32_t>(i));
    }
  }

  void Walk() {
    std::vector<Level> levels = {{&roots_, 0, true}};
    size_t depth = 1;
    while (!levels.empty()) {
      Level& level = levels.back();
      if (level.next == level.children->size()) {
        Flush();
        if (level.is_list && levels.size() > 1) {
          out_ += "</ul></details></li>\n";
          --depth;
        }
        levels.pop_back();
        continue;
      }
      const Node& node = nodes_[static_cast<size_t>((*level.children)[level.next++])];
      // Only one of several indents: a lone callee is the continuation of its caller.
      const bool branch = level.children->size() > 1 && !node.children.empty() && depth < kMaxDepth;
      if (branch || !node.ends.empty() || !Defer(node)) {
        Flush();
        out_ += branch ? "<li><details open><summary>" : "<li>";
        Content(node);
        out_ += branch ? "</summary><ul>\n" : "</li>\n";
      }
      depth += branch;
      levels.push_back({&node.children, 0, branch});
    }
  }

  std::string_view PackageOf(const Node& node) const {
    const auto frames = context_.model.pools.GetStack(table_.frame[node.row]);
    return frames.empty() ? "" : context_.frames().PackageOfFrame(frames.front());
  }

  // Keeps a frame of a package back, to be folded away with those that follow it; false for others.
  bool Defer(const Node& node) {
    const std::string_view package = PackageOf(node);
    if (package.empty()) return false;
    if (!deferred_.empty() && PackageOf(*deferred_.front()) != package) Flush();
    deferred_.push_back(&node);
    return true;
  }

  void Flush() {
    const bool folded = deferred_.size() > 1;
    if (folded) AppendFold(deferred_.size(), PackageOf(*deferred_.front()), out_);
    for (const Node* node : deferred_) {
      out_ += "<li>";
      Content(*node);
      out_ += "</li>\n";
    }
    if (folded) out_ += "</ol></details></li>\n";
    deferred_.clear();
  }

  // How compilations ended, as marks with their ids: class and sign tell it.
  void Content(const Node& node) {
    for (size_t row : node.ends) {
      const std::string_view status = context_.Text(ends_.status[row]);
      const std::string id = DisplayId(context_.Text(ends_.compile_id[row]));
      if (ends_.compile_id[row] == StringId::kNone) {
        Put(out_, "{} ", id);
      } else {
        Put(out_, "<a class=\"{0}\" href=\"#{1}\">{1}</a> ",
            status == "error" ? "error-mark" : status, id);
      }
    }
    const auto frames = context_.model.pools.GetStack(table_.frame[node.row]);
    if (!frames.empty()) context_.frames().AppendFrame(frames.front(), "", out_);
  }

  const PageContext& context_;
  const CompileTrieNodeTable& table_;
  const CompileTrieEndTable& ends_;
  std::string& out_;
  std::vector<Node> nodes_;
  std::vector<int32_t> roots_;
  std::vector<const Node*> deferred_;  // a run of frames of one package, outermost first
};

}  // namespace

bool AppendTrie(const PageContext& context, std::string_view trie, std::string& out) {
  return TrieWriter(context, trie, out).Write();
}

}  // namespace debrief::outputs::tlparse_tree
