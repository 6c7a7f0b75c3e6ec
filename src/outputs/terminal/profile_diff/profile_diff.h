// Why does B take longer than A? The difference of the mean step, taken apart so that the pieces
// add up to it in whole nanoseconds.
//
//   step      +1.20 ms =  compute +0.90  exposed communication +0.50  exposed copies 0  idle -0.20
//   compute   +0.90 ms =  gemm +1.00 (launched more often +0.40, slower +0.60)  ...
//                         overlap -0.10 (kernels that ran beside others)
//
// Means are rounded so that sums stay exact: each is the difference of two rounded running sums.
// A difference counts when it is larger than the scatter of the steps explains (noise_ns).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "outputs/terminal/profile_diff/samples.h"

namespace debrief::outputs::profile_diff {

enum class Significance : uint8_t { kSignificant, kWithinNoise, kUnknown };
std::string_view SignificanceName(Significance significance);

// Means over the samples of each side.
struct Values {
  int64_t a_ns = 0;
  int64_t b_ns = 0;
  int64_t noise_ns = kNone64;  // differences up to here may be chance; kNone64: too few samples
  Significance significance = Significance::kUnknown;

  int64_t difference() const { return b_ns - a_ns; }
};

struct PartDiff {
  TimePart part = TimePart::kCompute;
  Values time;
};

// A kernel, copy or fill by its name; or an op by what it launched.
struct NameDiff {
  TimePart part = TimePart::kCompute;
  std::string name;
  Values time;
  int64_t count_a = 0;  // in all samples
  int64_t count_b = 0;
  // time.difference() is the sum of both.
  int64_t count_effect_ns = 0;     // more or fewer launches, each as long as in A
  int64_t duration_effect_ns = 0;  // each longer or shorter
  // new, gone, slower, faster, more_launches, fewer_launches, same: the larger effect.
  std::string_view verdict;
};

struct ProfileDiff {
  Unit unit = Unit::kStep;
  int64_t samples_a = 0;
  int64_t samples_b = 0;
  Values total;                   // the sum of `parts`
  std::vector<PartDiff> parts;    // each but idle is the sum of its kernels and its overlap
  std::vector<NameDiff> kernels;  // largest difference first
  std::vector<PartDiff>
      overlaps;               // of each part but idle: what ran beside something else, and rounding
  std::vector<NameDiff> ops;  // the same work by op: for devices whose kernels differ in name
};

// kNotFound when a side has no work on a device to compare. Steps are compared where both sides
// have some, else timelines as a whole.
Result<ProfileDiff> DiffProfiles(const Selection& a, const Selection& b);

struct DiffTextOptions {
  std::string name_a = "the first";
  std::string name_b = "the second";
  size_t rows = 15;  // of kernels and of ops
  size_t width = 100;
};

std::string DiffText(const ProfileDiff& diff, const DiffTextOptions& options);
// One line for each figure: level (total, part, kernel, overlap, op), part, name, times, effects.
std::string DiffCsv(const ProfileDiff& diff);
std::string DiffJson(const ProfileDiff& diff, const DiffTextOptions& options);

}  // namespace debrief::outputs::profile_diff
