// Values of GPUs and hosts, whoever took them: one set of names for what DCGM, node_exporter and
// nvidia-smi call differently, and the rows they become.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/model.h"

namespace debrief::inputs {

struct HostMetric {
  std::string_view name;  // empty: not known
  double scale = 1;       // from the monitor's unit to ours
};

// By the name that a monitor uses: DCGM_FI_DEV_SM_CLOCK, clocks.current.sm, pclk, ...
HostMetric HostMetricOf(std::string_view source);

// The metric whose name stands in that of a file, as the monitor spells it; empty when none does.
std::string_view HostMetricInName(std::string_view file_name);

// The values of one metric of one GPU or host.
class HostSeries {
 public:
  struct Subject {
    std::string_view host;
    int32_t gpu = kNone32;
    std::string_view uuid;
    std::string_view bus_id;  // as any tool spells it
  };

  // A metric without a name here keeps that of its source.
  HostSeries(const Identity& who, const Subject& subject, std::string_view source, Part& part);

  // In the monitor's unit; values that are not finite are left out.
  void Add(int64_t time_ns, double value);

 private:
  Identity who_;
  int32_t gpu_;
  double scale_;
  StringId host_, uuid_, bus_id_, metric_;
  Part& part_;
};

}  // namespace debrief::inputs
