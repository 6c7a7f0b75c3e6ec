// What one side of a comparison did, sample by sample. A sample is a step of a timeline or, without
// steps, a timeline as a whole.
//
// Its time divides into parts (table profile_breakdown, definition debrief) that add up; kernels,
// copies and fills are clipped to the sample, so that what they take more than their part has is
// what ran at the same time as something else.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

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

struct Side {
  uint32_t samples = 0;
  Amounts total;
  Amounts parts[kParts];
  NamedAmounts kernels;  // by part and name of the kernel, copy or fill
  NamedAmounts ops;      // by part and name of the innermost op that launched them
};

// Timelines of a model, or those of some inputs of it.
struct Selection {
  const Model& model;
  std::vector<int32_t> inputs = {};  // empty: all
};

// Whether there are steps to compare: whole ones where any are, else those that were cut.
bool HasSteps(const Selection& selection);

// Texts point into the model. Cost: linear in the work on devices.
Side SideOf(const Selection& selection, Unit unit);

}  // namespace debrief::outputs::profile_diff
