#include "inputs/torch_trace/untangle/prefix_tree.h"

#include <algorithm>

namespace debrief::inputs::torch_trace {

PrefixTree::PrefixTree(const std::array<uint8_t, 16>& digest, size_t most_nodes)
    : digest_(digest), most_nodes_(most_nodes), nodes_(1), slots_(64, kNone) {}

size_t PrefixTree::Find(uint32_t parent, uint64_t text) const {
  size_t mask = slots_.size() - 1;
  size_t at = Mix(text, parent) & mask;
  while (slots_[at] != kNone) {
    const Node& node = nodes_[slots_[at]];
    if (node.parent == parent && node.text == text) break;
    at = (at + 1) & mask;
  }
  return at;
}

void PrefixTree::Grow() {
  slots_.assign(slots_.size() * 2, kNone);
  for (uint32_t i = 1; i < nodes_.size(); ++i) slots_[Find(nodes_[i].parent, nodes_[i].text)] = i;
}

uint32_t PrefixTree::Child(uint32_t parent, const Line& line, uint32_t item) {
  size_t slot = Find(parent, line.text);
  if (slots_[slot] != kNone) return slots_[slot];
  if (nodes_.size() >= most_nodes_) return kNone;
  auto id = static_cast<uint32_t>(nodes_.size());
  slots_[slot] = id;
  Node node;
  const Node& up = nodes_[parent];
  const Node& far = nodes_[up.jump];
  // Jumps of equal length combine to one of twice the length and one.
  bool combine = up.depth - far.depth == far.depth - nodes_[far.jump].depth && parent != kRoot;
  node.parent = parent;
  node.jump = combine ? far.jump : parent;
  node.depth = up.depth + 1;
  node.item = item;
  node.text = line.text;
  node.shape = line.shape;
  node.shapes = Mix(up.shapes, line.shape);
  node.first = parent == kRoot ? line.shape : up.first;
  node.context = After(up.context, line);
  node.json = up.json;
  node.json.Step(line);
  nodes_.push_back(node);
  if (nodes_.size() * 2 > slots_.size()) Grow();
  return id;
}

uint32_t PrefixTree::Ancestor(uint32_t node, uint32_t depth) const {
  while (nodes_[node].depth > depth) {
    uint32_t jump = nodes_[node].jump;
    node = nodes_[jump].depth >= depth ? jump : nodes_[node].parent;
  }
  return node;
}

bool PrefixTree::IsPrefixOf(uint32_t node, uint32_t longer) const {
  return Ancestor(longer, nodes_[node].depth) == node;
}

const Md5& PrefixTree::Hashed(uint32_t node, std::span<const TangledItem> items) {
  std::vector<uint32_t> path;
  while (node != kRoot && nodes_[node].md5 == kNone) {
    path.push_back(node);
    node = nodes_[node].parent;
  }
  Md5 md5;
  if (node != kRoot) md5 = md5s_[nodes_[node].md5];
  for (; !path.empty(); path.pop_back()) {
    Node& next = nodes_[path.back()];
    if (next.depth > 1) md5.Update("\n");
    md5.Update(items[next.item].text);
    node = path.back();
  }
  // Only the end of the path: nodes in between are seldom asked for again.
  nodes_[node].md5 = static_cast<uint32_t>(md5s_.size());
  md5s_.push_back(md5);
  return md5s_.back();
}

bool PrefixTree::Fits(uint32_t node, std::span<const TangledItem> items) {
  Md5 md5 = nodes_[node].md5 == kNone ? Hashed(node, items) : md5s_[nodes_[node].md5];
  return md5.Final() == digest_;
}

std::vector<uint32_t> PrefixTree::Items(uint32_t node) const {
  std::vector<uint32_t> items;
  for (; node != kRoot; node = nodes_[node].parent) items.push_back(nodes_[node].item);
  std::reverse(items.begin(), items.end());
  return items;
}

}  // namespace debrief::inputs::torch_trace
