// Do steps take longer, where, and because of whom?
//
//   step = host + data loading + compiling + gpu + waiting for ranks + communication + still
//          + rest
//
// Each part is measured for itself on every rank and step: the host while it does not wait, the
// devices while they compute or communicate, `still` while the host waits and no device runs. What
// runs beside something else is counted in both, so `rest` is mostly negative; it is what is left
// of the step, and so all parts add up to it in whole nanoseconds.
//
// A step of the job is the mean over its ranks; model/timeline/typical_steps.h says which are
// compared. Their length is that of `debrief profile diff`: host and devices together.
//
// Cost: linear in the slices of the profiles.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/stats/noise.h"
#include "diff/side.h"

namespace debrief::diff {

enum class StepPart : uint8_t {
  kHost,
  kData,
  kCompile,
  kGpu,
  kWaiting,
  kCommunication,
  kStill,
  kRest
};
inline constexpr size_t kStepParts = 8;
std::string_view PartName(StepPart part);     // for programs
std::string_view PartInWords(StepPart part);  // "communication"

template <typename T>
struct Parts {
  T total{};
  std::array<T, kStepParts> parts{};

  T& operator[](StepPart part) { return parts[static_cast<size_t>(part)]; }
  const T& operator[](StepPart part) const { return parts[static_cast<size_t>(part)]; }
};

using StepTimes = Parts<int64_t>;
using StepChange = Parts<Change>;  // of means; parts add up to the total

// Whose work made the difference.
struct Blame {
  StepPart part = StepPart::kHost;
  std::vector<int32_t> ranks;  // none: all of them
  Change change;               // of the rank that changed most; without ranks of the mean
  int64_t others_wait_ns = 0;  // how much longer the ranks that are not to blame wait for others
};

struct StepDiff {
  size_t steps_a = 0, steps_b = 0;        // compared
  size_t left_out_a = 0, left_out_b = 0;  // unusually long
  StepChange job;
  std::map<int32_t, StepChange> ranks;
  std::optional<Blame> blame;

  bool has_changed() const { return job.total.is_real || blame.has_value(); }
};

// By rank, then by step.
using StepsOfRanks = std::map<int32_t, std::map<int64_t, StepTimes>>;
StepsOfRanks MeasureSteps(const Side& side, std::span<const int32_t> inputs);

// None when a side has no steps.
std::optional<StepDiff> DiffSteps(const StepsOfRanks& a, const StepsOfRanks& b);

std::optional<Blame> FindBlame(const StepDiff& diff);

// "Steps take 258 ms longer (+197 %), because of the GPU of rank 4 (+283 ms per step)".
std::string StepHeadline(const StepDiff& diff);

}  // namespace debrief::diff
