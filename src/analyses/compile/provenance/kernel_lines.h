// On which lines of generated code each kernel is called.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/compile/provenance/line_maps.h"

namespace debrief::analyses::compile_provenance {

// Finds many names in a text at once: which lines contain which name.
//
// An Aho-Corasick automaton: the trie of the names, and from each node a link to the longest end of
// what was read that begins another name. One step a byte, however many names there are; looking
// for each name in each line would cost names x lines.
//
//   names  ab, abc, bd     text "abd"     a -> ab (found ab) -> no child d: link to b -> bd (found)
//
// Nodes keep their children as a list: kernel names share long beginnings and then differ, so
// nearly every node has one child, and a table of 256 for each would take a megabyte for a thousand
// names.
class NameFinder {
 public:
  // The number of the name, the same for the same name. Not after the first Find.
  int32_t Add(std::string_view name);
  size_t names() const { return names_; }

  // For each name the lines (positions in `lines`, from `first` on) that contain it, ascending. The
  // empty name is in every line. Nothing when lines and places are more than `most`: hostile names
  // within names.
  std::optional<std::vector<std::vector<int32_t>>> Find(std::span<const std::string_view> lines,
                                                        size_t first, size_t most);

 private:
  struct Node {
    int32_t child = 0;  // first one; 0 is none, since the root is nobody's child
    int32_t sibling = 0;
    int32_t link = 0;
    int32_t found = 0;  // nearest node on the way of links, itself included, where a name ends
    int32_t name = -1;  // that ends here
    char byte = 0;
  };

  int32_t ChildOf(int32_t node, char byte) const;
  int32_t Step(int32_t node, char byte) const;
  void MakeLinks();

  std::vector<Node> nodes_{1};
  size_t names_ = 0;
  bool linked_ = false;
};

// Lines without their ends; the one behind the last end is none.
std::vector<std::string_view> SplitLines(std::string_view text);

// By kernel name; a kernel that is nowhere has no entry. Null when there are absurdly many.
using KernelLines = std::map<std::string_view, std::vector<int32_t>>;
// Numbered such that the line with "# AOT ID:" is 1.
std::optional<KernelLines> FindInPython(std::string_view code, const NameMap& kernels);
std::optional<KernelLines> FindInCpp(std::string_view code, const NameMap& kernels);

// A line that declares the number of elements of a kernel and does not call it:
// "int64_t triton_0_xnumel = 3" or "auto x_xnumel_1 =".
bool DeclaresElements(std::string_view line);

}  // namespace debrief::analyses::compile_provenance
