#include "analyses/compile/provenance/name_finder.h"

namespace debrief::analyses::compile_provenance {

int32_t NameFinder::Add(std::string_view name) {
  int32_t at = 0;
  for (char byte : name) {
    int32_t child = ChildOf(at, byte);
    if (child == 0) {
      child = static_cast<int32_t>(nodes_.size());
      nodes_.push_back({.sibling = nodes_[static_cast<size_t>(at)].child, .byte = byte});
      nodes_[static_cast<size_t>(at)].child = child;
    }
    at = child;
  }
  int32_t& number = nodes_[static_cast<size_t>(at)].name;
  if (number < 0) {
    number = static_cast<int32_t>(lengths_.size());
    lengths_.push_back(name.size());
  }
  return number;
}

int32_t NameFinder::ChildOf(int32_t node, char byte) const {
  int32_t child = nodes_[static_cast<size_t>(node)].child;
  while (child != 0 && nodes_[static_cast<size_t>(child)].byte != byte)
    child = nodes_[static_cast<size_t>(child)].sibling;
  return child;
}

int32_t NameFinder::Step(int32_t node, char byte) const {
  while (true) {
    int32_t child = ChildOf(node, byte);
    if (child != 0 || node == 0) return child;
    node = nodes_[static_cast<size_t>(node)].link;
  }
}

// Breadth first, so that links, which lead to shorter texts, are there when they are needed.
void NameFinder::MakeLinks() {
  std::vector<int32_t> queue = {0};
  for (size_t i = 0; i < queue.size(); ++i) {
    int32_t parent = queue[i];
    int32_t child = nodes_[static_cast<size_t>(parent)].child;
    for (; child != 0; child = nodes_[static_cast<size_t>(child)].sibling) {
      Node& node = nodes_[static_cast<size_t>(child)];
      node.link = parent == 0 ? 0 : Step(nodes_[static_cast<size_t>(parent)].link, node.byte);
      node.found = node.name >= 0 ? child : nodes_[static_cast<size_t>(node.link)].found;
      queue.push_back(child);
    }
  }
  linked_ = true;
}

std::optional<std::vector<std::vector<int32_t>>> NameFinder::Find(
    std::span<const std::string_view> lines, size_t first, size_t most) {
  if (!linked_) MakeLinks();
  std::vector<std::vector<int32_t>> places(lengths_.size());
  size_t visits = 0;
  auto add = [&](int32_t name, int32_t line) {
    auto& of_name = places[static_cast<size_t>(name)];
    if (!of_name.empty() && of_name.back() == line) return;
    of_name.push_back(line);
  };
  for (size_t i = first; i < lines.size(); ++i) {
    auto line = static_cast<int32_t>(i);
    if (nodes_[0].name >= 0) add(nodes_[0].name, line);
    if (++visits > most) return std::nullopt;
    int32_t node = 0;
    for (char byte : lines[i]) {
      node = Step(node, byte);
      int32_t found = nodes_[static_cast<size_t>(node)].found;
      while (found != 0) {
        if (++visits > most) return std::nullopt;
        add(nodes_[static_cast<size_t>(found)].name, line);
        found = nodes_[static_cast<size_t>(nodes_[static_cast<size_t>(found)].link)].found;
      }
    }
  }
  return places;
}

}  // namespace debrief::analyses::compile_provenance
