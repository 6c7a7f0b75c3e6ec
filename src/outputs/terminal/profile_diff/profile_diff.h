// Why does B take longer than A? The difference of the mean step, taken apart so that the pieces
// add up to it in whole nanoseconds.
//
//   step      +1.20 ms =  compute +0.90  exposed communication +0.50  exposed copies 0  idle -0.20
//   compute   +0.90 ms =  gemm +1.00 (launched more often +0.40, slower +0.60)  ...
//                         overlap -0.10 (kernels that ran beside others)
//
// Means are rounded so that sums stay exact: each is the difference of two rounded running sums.
// A difference counts when it is larger than the scatter of the steps explains
// (base/stats/noise.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/stats/noise.h"
#include "base/status.h"
#include "outputs/terminal/profile_diff/samples.h"

namespace debrief::outputs::profile_diff {

// significant, within_noise, or unknown of too few samples.
std::string_view SignificanceName(const Change& change);

// A difference of a sample or of its parts up to here does not matter, however regular it is.
int64_t SmallestThatMatters(int64_t sample_ns);

struct PartDiff {
  TimePart part = TimePart::kCompute;
  Change time;  // means over the samples of each side
};

// A kernel, copy or fill by its name; or an op by what it launched.
struct NameDiff {
  TimePart part = TimePart::kCompute;
  std::string name;
  Change time;
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
  Change total;                   // the sum of `parts`
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

// Launches a sample.
std::string PerSample(int64_t count, int64_t samples);

std::string DiffText(const ProfileDiff& diff, const DiffTextOptions& options);
// One line for each figure: level (total, part, kernel, overlap, op), part, name, times, effects.
std::string DiffCsv(const ProfileDiff& diff);
std::string DiffJson(const ProfileDiff& diff, const DiffTextOptions& options);

}  // namespace debrief::outputs::profile_diff
