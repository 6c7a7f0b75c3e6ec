// Why does B take longer than A? The difference of the mean step, taken apart so that the pieces
// add up to it in whole nanoseconds.
//
//   step      +1.20 ms =  compute +0.90  exposed communication +0.50  exposed copies 0  idle -0.20
//   compute   +0.90 ms =  gemm +1.00 (launched more often +0.40, slower +0.60)  ...
//                         overlap -0.10 (kernels that ran beside others)
//
// Steps are those of model/timeline/typical_steps.h: `debrief diff` shows the same total. Means are
// rounded so that sums stay exact: each is the difference of two rounded running sums.
// A difference counts when it is larger than the scatter of the steps explains
// (base/stats/noise.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/stats/noise.h"
#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::profile_diff {

enum class Unit : uint8_t { kStep, kTimeline };

// In the order in which they take time: what computes comes before what communicates.
enum class TimePart : uint8_t { kCompute, kExposedCommunication, kExposedMemcpy, kIdle };
inline constexpr size_t kParts = 4;
std::string_view PartName(TimePart part);

// Time and number of something, in all samples; by sample where there is any.
struct Amounts {
  int64_t total_ns = 0;
  int64_t count = 0;
  std::vector<std::pair<uint32_t, int64_t>> by_sample;  // sample and time, in order

  void Add(uint32_t sample, int64_t time, int64_t how_many);
};

using NamedAmounts = std::map<std::pair<TimePart, std::string_view>, Amounts>;

// What one side of a comparison did, sample by sample. A sample is a step of the job, over all of
// its ranks, or, without steps, a timeline as a whole.
//
// Its time divides into parts (table profile_breakdown, definition debrief) that add up; kernels,
// copies and fills are clipped to the sample, so that what they take more than their part has is
// what ran at the same time as something else.
struct Side {
  uint32_t samples = 0;
  uint32_t ranks = 1;   // that each sample adds up
  size_t left_out = 0;  // steps that are unusually long
  Amounts total;
  Amounts parts[kParts];
  NamedAmounts kernels;  // by part and name of the kernel, copy or fill
  NamedAmounts ops;      // by part and name of the innermost op that launched them

  // Steps of all ranks: what means are over.
  uint32_t windows() const { return samples * ranks; }
};

// Timelines of a model, or those of some inputs of it.
struct Selection {
  const Model& model;
  std::vector<int32_t> inputs = {};  // empty: all
};

// Texts point into the model. Cost: linear in the work on devices.
Side SideOf(const Selection& selection, Unit unit);

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
  int64_t samples_a = 0;  // steps of all ranks, or timelines
  int64_t samples_b = 0;
  int64_t steps_a = 0;  // of the job
  int64_t steps_b = 0;
  int64_t left_out_a = 0;  // unusually long ones
  int64_t left_out_b = 0;
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
