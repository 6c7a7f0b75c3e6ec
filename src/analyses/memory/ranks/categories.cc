#include "analyses/memory/ranks/categories.h"

#include <algorithm>
#include <initializer_list>

#include "base/text/strings.h"

namespace debrief::analyses::memory_ranks {

namespace {

bool IsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// Python names the function alone, C++ with its namespaces and arguments.
std::string_view CategoryOfFrame(std::string_view file, std::string_view function) {
  if (Contains(function, "torch::autograd::Engine") || Contains(file, "torch/autograd/"))
    return "gradients";
  if (Contains(file, "torch/optim/") || Contains(file, "/apex/optimizers/")) return "optimiser";
  const bool of_modules = Contains(file, "torch/nn/modules/");
  const bool makes =
      IsAny(function, {"__init__", "_apply", "convert", "to", "cuda", "to_empty",
                       "reset_parameters", "load_state_dict", "_load_from_state_dict"});
  if ((of_modules && makes) || Contains(file, "torch/nn/parameter.py") ||
      Contains(file, "torch/nn/init.py"))
    return "parameters";
  if (IsAny(function, {"_call_impl", "_wrapped_call_impl"}) || function == "forward")
    return "activations";
  if (Contains(file, "torch/distributed/") || Contains(function, "c10d::")) return "communication";
  return "";
}

}  // namespace

std::string_view CategoryOf(const Pools& pools, StackId stack) {
  const auto frames = pools.GetStack(stack);
  if (stack == StackId::kNone || frames.empty()) return "unknown";
  for (FrameId id : frames) {
    const Frame& frame = pools.GetFrame(id);
    const std::string_view category =
        CategoryOfFrame(pools.Text(frame.file), pools.Text(frame.function));
    if (!category.empty()) return category;
  }
  return "other";
}

}  // namespace debrief::analyses::memory_ranks
