// A comparison for programs: docs/formats/diff_json.md.
#pragma once

#include <span>
#include <string>

#include "diff/gates.h"
#include "diff/run_diff.h"

namespace debrief::diff {

inline constexpr int kSchema = 1;

std::string DiffJson(const RunDiff& diff, std::span<const GateOutcome> gates);

}  // namespace debrief::diff
