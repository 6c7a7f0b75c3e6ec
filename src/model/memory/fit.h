// What would fit: how much of the peak of a device grows with the batch, and what would make it
// smaller. Estimates, said as such:
//
//   activation checkpointing   of n activations of the same size, with a checkpoint at every
//                              sqrt(n)th, 2 sqrt(n) are alive at once: the rest is saved
//   half the batch             half of what grows with the batch: activations and temporary
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/finding.h"
#include "model/model.h"

namespace debrief::memory {

// What the peak of one device was made of.
struct PeakParts {
  Identity who;
  int32_t device = kNone32;
  std::string_view source;  // snapshot, profile
  int64_t in_use = 0, reserved = 0, capacity = kNone64;
  int64_t fixed = 0, by_batch = 0, other = 0, unused = 0;
  int64_t activations = 0, activation_count = 0;
  bool ran_out = false;

  // Of a row of memory_category or profile_memory_category.
  void Add(std::string_view category, int64_t bytes, int64_t count);
};

// Adds a row of memory_fit for each; where memory was short, one hint for each attempt.
void AddFits(const std::vector<PeakParts>& peaks, Part& part, std::vector<Finding>& findings);

}  // namespace debrief::memory
