// The steps of one timeline with what devices did in them, and those that are clearly slower than
// the others of their rank.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/finding.h"
#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_steps {

// Figures of a step, in the order of kFigureNames.
enum Figure : size_t {
  kHost,
  kDuration,
  kBusy,
  kCompute,
  kExposedCommunication,
  kExposedMemory,
  kIdle,
  kWorks,
  kKernels,
  kFigures
};
inline constexpr std::array<std::string_view, kFigures> kFigureNames = {
    "host_ns",           "duration_ns", "busy_ns", "compute_ns", "exposed_communication_ns",
    "exposed_memory_ns", "idle_ns",     "works",   "kernels"};

struct StepFigures {
  int32_t step = kNone32;
  int64_t label = kNone64;
  int64_t start = 0;
  bool whole = true;
  bool on_device = true;  // work of devices was recorded
  std::array<int64_t, kFigures> figures{};
};

// Collects them over the timelines of all jobs. A step that is slow on several ranks is one
// finding, and blames ranks only when it is slow on a few of them.
class SlowSteps {
 public:
  // `first_row`: of the steps in the result's table profile_step.
  void Look(const Identity& who, const std::vector<StepFigures>& steps, size_t first_row);

  void AddFindings(std::vector<Finding>& findings) const;

 private:
  struct Slow {
    int32_t rank = kNone32;
    int64_t duration_ns = 0;
    int64_t median_ns = 0;
    size_t steps = 0;       // that the median is of
    std::string_view grew;  // what grew most; empty when not known
    int64_t growth_ns = 0;
    bool is_first = false;  // of the recording
    int64_t row = 0;
  };
  using Job = std::pair<int32_t, int32_t>;  // and attempt

  Finding ToFinding(const Job& job, int64_t label, const std::vector<Slow>& slow) const;

  std::map<std::pair<Job, int64_t>, std::vector<Slow>> slow_;  // by label
  std::map<Job, size_t> timelines_;
};

}  // namespace debrief::analyses::profile_steps
