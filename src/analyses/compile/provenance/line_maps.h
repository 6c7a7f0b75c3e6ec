// From "node mul became kernel triton_0" to "line 12 became line 186".
//
// The compiler logs which nodes of its graphs became which kernels, by name. Lines are found by
// looking for the names in the texts:
//
//   graph    mul: "f32[8]" = torch.ops.aten.mul.Tensor(...)    a node is on the last line that
//                                                              begins with its name
//   code     triton_poi_fused_mul_1.run(...)                   a kernel is on every line that
//                                                              contains its name, in the function
//                                                              that calls the kernels
//   handle   # triton_poi_fused_mul_1:2                        with a handle in its name, on the
//            triton_poi_fused_mul_1.run(...)                   first such line behind the handle
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace debrief::analyses::compile_provenance {

// Node or kernel -> those it came from or became. Sorted, as kernels are gone through in that
// order.
using NameMap = std::map<std::string, std::vector<std::string>>;

struct NodeMaps {
  NameMap pre_to_post;
  NameMap post_to_pre;
  NameMap kernel_to_post;  // "cppCodeToPost", whatever the code is
  NameMap post_to_kernel;  // "postToCppCode"
};

// Null when the text is no JSON object.
std::optional<NodeMaps> ReadNodeMaps(std::string_view json);

struct ProvenanceTexts {
  std::string pre;
  std::string post;
  std::string python;
  std::string cpp;
};

using LineMap = std::map<int32_t, std::vector<int64_t>>;

// In the order in which they are printed.
inline constexpr std::array<std::string_view, 6> kMapNames = {
    "cppCodeToPost", "postToCppCode", "postToPre", "postToPyCode", "preToPost", "pyCodeToPost"};
using LineMaps = std::array<LineMap, kMapNames.size()>;

// Null when the maps would be absurdly large. Linear in texts, names and result.
std::optional<LineMaps> MapLines(const NodeMaps& maps, const ProvenanceTexts& texts);

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
