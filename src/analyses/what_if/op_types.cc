#include "analyses/what_if/op_types.h"

namespace debrief::analyses::what_if {

namespace {

// In the order of OpType.
constexpr std::array<OpTypeInfo, kOpTypes> kInfos = {{
    {"forward-compute", "forward-compute", Meets::kNobody, true},
    {"backward-compute", "backward-compute", Meets::kNobody, true},
    {"forward-send", "forward-pp-comm", Meets::kPartner},
    {"forward-recv", "forward-pp-comm", Meets::kPartner},
    {"backward-send", "backward-pp-comm", Meets::kPartner},
    {"backward-recv", "backward-pp-comm", Meets::kPartner},
    {"params-all-gather", "params-all-gather", Meets::kReplicas},
    {"grads-reduce-scatter", "grads-reduce-scatter", Meets::kReplicas},
    {"separate-grads-all-reduce", "separate-grads-all-reduce", Meets::kReplicas},
    {"embedding-grads-all-reduce", "embedding-grads-all-reduce", Meets::kEnds},
    {"optimizer-clip-main-grad", "optimizer-clip-main-grad", Meets::kAll},
    {"layernorm-grads-all-reduce", "layernorm-grads-all-reduce", Meets::kNobody},
    {"gc", "gc", Meets::kNobody, true},
    {"optimizer", "optimizer", Meets::kNobody, true},
}};

}  // namespace

const OpTypeInfo& InfoOf(OpType type) { return kInfos[IndexOf(type)]; }

std::optional<OpType> TypeOf(std::string_view name) {
  for (size_t i = 0; i < kOpTypes; ++i) {
    if (kInfos[i].name == name) return static_cast<OpType>(i);
  }
  return std::nullopt;
}

}  // namespace debrief::analyses::what_if
