// All kinds, found by their keys.
#include <unordered_map>
#include <vector>

#include "inputs/torch_trace/kind.h"

namespace debrief::inputs::torch_trace {

std::span<const Kind* const> AllKinds() {
  static const auto kAll = [] {
    std::vector<const Kind*> all;
    for (auto subject : {ArtifactKinds, CompilationKinds, GraphKinds, ShapeKinds, TensorKinds})
      for (const Kind& kind : subject()) all.push_back(&kind);
    return all;
  }();
  return kAll;
}

const Kind* FindKind(std::string_view key) {
  static const auto kByKey = [] {
    std::unordered_map<std::string_view, const Kind*> by_key;
    for (const Kind* kind : AllKinds()) by_key.emplace(kind->key, kind);
    return by_key;
  }();
  auto found = kByKey.find(key);
  return found == kByKey.end() ? nullptr : found->second;
}

}  // namespace debrief::inputs::torch_trace
