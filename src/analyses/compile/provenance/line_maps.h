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

}  // namespace debrief::analyses::compile_provenance
