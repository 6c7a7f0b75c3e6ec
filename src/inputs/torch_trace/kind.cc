#include "inputs/torch_trace/kind.h"

#include <unordered_map>

namespace debrief::inputs::torch_trace {

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
