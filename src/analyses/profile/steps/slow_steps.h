// Steps that are clearly slower than the others of their rank, and what grew in them.
#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/profile/steps/step_rows.h"
#include "model/finding.h"
#include "model/model.h"

namespace debrief::analyses::profile_steps {

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
    double median_ns = 0;
    size_t steps = 0;       // that the median is of
    std::string_view grew;  // what grew most; empty when not known
    double growth_ns = 0;
    bool is_first = false;  // of the recording
    int64_t row = 0;
  };
  using Job = std::pair<int32_t, int32_t>;  // and attempt

  Finding ToFinding(const Job& job, int64_t label, const std::vector<Slow>& slow) const;

  std::map<std::pair<Job, int64_t>, std::vector<Slow>> slow_;  // by label
  std::map<Job, size_t> timelines_;
};

}  // namespace debrief::analyses::profile_steps
