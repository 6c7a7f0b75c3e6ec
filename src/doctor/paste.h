// The lines that set what is missing, for a shell script, a script of sbatch or a pod of
// Kubernetes; and everything that the doctor says, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doctor/advice.h"

namespace debrief::doctor {

enum class Target : uint8_t { kBash, kSbatch, kK8s };

struct ShowOptions {
  Target target = Target::kBash;
  std::string logs;  // folder for evidence; empty: one that fits the target
};

// Empty when there is nothing to set.
std::string PasteLines(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options);

std::string AdviceText(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options, size_t width);
std::string AdviceJson(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options);

}  // namespace debrief::doctor
