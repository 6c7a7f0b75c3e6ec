// What a slice's name says about the slices in it. Decided once for each distinct name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::timeline_launches {

enum class NameRole : uint8_t {
  kPlain,
  kStep,          // ProfilerStep#412
  kModule,        // nn.Module: Linear_3
  kRegion,        // Torch-Compiled Region: 0/0
  kCompiledCall,  // ## Call CompiledFxGraph fal4x... ##
  kBackward,      // autograd::engine::evaluate_function: AddmmBackward0
};
NameRole RoleOfName(std::string_view name);

// The compile id in the name of a kRegion, for example 0/0 or !1/0/0; empty when it has none.
std::string_view CompileIdIn(std::string_view name);

class NameRoles {
 public:
  explicit NameRoles(const Pools& pools) : pools_(pools), roles_(pools.strings.size(), kUnknown) {}

  NameRole Of(StringId name) {
    uint8_t& role = roles_[static_cast<size_t>(name)];
    if (role == kUnknown) role = static_cast<uint8_t>(RoleOfName(pools_.Text(name)));
    return static_cast<NameRole>(role);
  }

 private:
  static constexpr uint8_t kUnknown = 0xff;
  const Pools& pools_;
  std::vector<uint8_t> roles_;  // by name
};

}  // namespace debrief::analyses::timeline_launches
