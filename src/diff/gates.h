// --fail-on: what a pipeline does not let through.
//
//   new-error  new-warning  new-info     a finding of that level or above that A does not have
//   step_time>5%  compile_time>20%  memory_peak>2%       more than that beyond A
//   graph_breaks>0  recompiles>3  step_time>10ms  memory_peak>500MB   more than that, absolutely
//
// A change within noise passes every gate.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "diff/run_diff.h"
#include "model/diagnostics.h"

namespace debrief::diff {

struct Gate {
  std::string text;               // as it was given
  std::optional<Severity> level;  // of a finding; else:
  std::string metric;             // name of a metric
  double threshold = 0;           // percent, or in the unit of the metric
  bool is_percent = false;
};

Result<Gate> ParseGate(std::string_view text);

struct GateOutcome {
  bool failed = false;
  std::string sentence;
};
GateOutcome Test(const Gate& gate, const RunDiff& diff);

// A comparison for programs: docs/formats/diff_json.md.
inline constexpr int kSchema = 1;
std::string DiffJson(const RunDiff& diff, std::span<const GateOutcome> gates);

}  // namespace debrief::diff
