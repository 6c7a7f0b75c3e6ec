// Rows of the tables of the roofline, from the calls of one timeline.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyses/profile/peaks.h"
#include "analyses/profile/roofline/calls.h"
#include "analyses/profile/roofline/generated_code.h"
#include "model/finding.h"
#include "model/timeline/view.h"

namespace debrief::analyses::profile_roofline {

struct DeviceRoof {
  StringId name = StringId::kNone;
  std::optional<profile::Peaks> peaks;
};

// Matrix products that matrix units cannot take in whole steps, by the size that is in the way.
struct OddProducts {
  int64_t save_ns = 0, busy_ns = 0, roof_ns = 0;
  int64_t row = 0;  // of profile_roofline: the one that could save most
  int64_t row_save_ns = 0;
};

struct RoofSummary {
  int64_t busy_ns = 0;
  std::map<int64_t, OddProducts> odd;  // by size
};

RoofSummary AddRows(const timeline::TimelineView& view, const DeviceCalls& calls,
                    const DeviceRoof& roof, const GeneratedCode& code, Part& part);

// Where padding a size would win much (findings.cc); one for each attempt.
void AddOddSizes(const std::vector<timeline::TimelineView>& views,
                 const std::vector<RoofSummary>& summaries, std::vector<Finding>& findings);

// What calls of one kind had to do and what the device could do.
struct KindFigures {
  std::optional<OpKind> model;
  std::optional<OpWork> work;
  std::string_view why_not;    // there is no work
  std::string_view precision;  // which peak counts
  double peak = 0;             // TFLOP/s; 0 when not known
  double compute_ns = 0, memory_ns = 0;
  bool has_roof = false;
  int64_t odd_size = 0;  // of a matrix product

  double RoofNs() const { return compute_ns > memory_ns ? compute_ns : memory_ns; }
  // Of `kernels` pieces of work in `count` calls.
  std::string_view BoundOf(int64_t kernels, int64_t count, int64_t floor_ns) const;
  int64_t SaveOf(int64_t busy_ns, int64_t count) const;
};

// How much of the device's computing steps use (mfu.cc). `figures`: by the numbers of kinds.
void AddMfu(const timeline::TimelineView& view, const DeviceCalls& calls,
            const std::vector<KindFigures>& figures, const DeviceRoof& roof, Part& part);

}  // namespace debrief::analyses::profile_roofline
