#include "analyses/timeline/launches/name_roles.h"

namespace debrief::analyses::timeline_launches {

namespace {

constexpr std::string_view kRegionWords = "Torch-Compiled Region";

}  // namespace

NameRole RoleOfName(std::string_view name) {
  if (name.starts_with("ProfilerStep")) return NameRole::kStep;
  if (name.starts_with("nn.Module: ")) return NameRole::kModule;
  if (name.starts_with(kRegionWords)) return NameRole::kRegion;
  if (name.starts_with("## Call CompiledFxGraph")) return NameRole::kCompiledCall;
  if (name.starts_with("autograd::engine::evaluate_function")) return NameRole::kBackward;
  return NameRole::kPlain;
}

std::string_view CompileIdIn(std::string_view name) {
  name.remove_prefix(kRegionWords.size());
  if (!name.starts_with(": ")) return {};
  name.remove_prefix(2);
  return name.substr(0, name.find(' '));
}

}  // namespace debrief::analyses::timeline_launches
