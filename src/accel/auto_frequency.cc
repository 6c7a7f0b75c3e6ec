#include "accel/auto_frequency.h"

#include <algorithm>

#include "accel/passes/helpers.h"
#include "model/accel/cycle_clock.h"
#include "model/accel/frequency.h"

namespace debrief::accel {

namespace {

constexpr size_t kFewSamples = 3;

// The stamp that belongs to the end of the event, from wherever the input has it.
std::optional<int64_t> StampAtEnd(const Event& event, const Run& run) {
  const size_t index = StampAtEnd(PhaseBySuffix(run.Text(event.name)));
  const auto key = static_cast<StringId>(static_cast<size_t>(key::kTS1) + index);
  const Arg* arg = event.Find(key, ArgPlace::kAttr);
  if (arg == nullptr) arg = event.Find(key);
  return arg == nullptr ? std::nullopt : arg->value().AsInteger(run.strings);
}

}  // namespace

std::optional<double> EstimateSocFrequency(const EventList& events, const Run& run) {
  ByValue<std::vector<ClockSample>> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    if (const auto cycles = StampAtEnd(event, run))
      ranks[event.pid].push_back({event.end(), *cycles, static_cast<int32_t>(event.job)});
  }
  std::vector<double> found;
  for (auto& [pid, samples] : ranks) {
    std::stable_sort(samples.begin(), samples.end(),
                     [](const auto& a, const auto& b) { return a.host_us < b.host_us; });
    const FrequencyEstimate estimate = EstimateFrequency(samples, run.options.soc_mhz);
    if (estimate.samples >= kFewSamples && estimate.mhz > 0) found.push_back(estimate.mhz);
  }
  if (found.empty()) return std::nullopt;
  std::sort(found.begin(), found.end());
  return found[found.size() / 2];
}

}  // namespace debrief::accel
