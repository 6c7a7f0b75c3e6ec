// Lines of Prometheus' text format and of OpenMetrics:
//
//   DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-8f",Hostname="n1"} 1980 1763167929000
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pools/ids.h"

namespace debrief::inputs {

struct MetricLine {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string>> labels;  // unescaped
  double value = 0;
  std::optional<double> time;  // milliseconds, of OpenMetrics seconds, since 1970

  // Empty when it has no such label.
  std::string_view Label(std::string_view key) const;
};

// Nothing for comments, blank lines and what is no sample.
std::optional<MetricLine> ParseMetricLine(std::string_view line);

// The name of the first sample of a text whose lines before it are comments; empty when its first
// line is something else.
std::string_view FirstMetric(std::string_view head);

// Seconds since 1970, as milliseconds tell them exactly; none where it is no time.
int64_t MetricTimeNs(double seconds);

}  // namespace debrief::inputs
