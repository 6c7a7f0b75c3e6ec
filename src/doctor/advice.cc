#include "doctor/advice.h"

#include <algorithm>

#include "doctor/adviser.h"

namespace debrief::doctor {

std::string_view AdviceStateName(AdviceState state) {
  static constexpr std::string_view kNames[] = {"wrong", "missing", "ok"};
  return kNames[static_cast<size_t>(state)];
}

bool IsOfInterest(std::string_view variable) {
  static constexpr std::string_view kStarts[] = {
      "TORCH_", "NCCL_", "PYTHONFAULT", "PYTHONUNBUFF", "CUDA_LAUNCH_BLO", "TORCHELASTIC_"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return variable.starts_with(start); });
}

std::vector<Advice> Advise(const Setup& setup, const std::optional<JobEvidence>& job) {
  Adviser adviser(setup, job);
  for (const auto rule : {AdviseFlightRecorder, AdviseWatchdog, AdviseOutput, AdviseNccl,
                          AdviseProcess, AdviseTraces})
    rule(adviser);
  // What no process sees is not right, whatever its value.
  std::erase_if(adviser.advices, [&](const Advice& advice) {
    const Setting* setting = setup.Variable(advice.subject.substr(0, advice.subject.find('=')));
    return advice.state == AdviceState::kOk && setting != nullptr && !setting->is_exported;
  });
  std::ranges::stable_sort(adviser.advices, {}, &Advice::state);
  return std::move(adviser.advices);
}

}  // namespace debrief::doctor
