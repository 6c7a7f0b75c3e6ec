// What to set so that the next time there is evidence: what is there already, what is missing, and
// what contradicts itself or does nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/setup.h"

namespace debrief::doctor {

// What a finished job left.
struct JobEvidence {
  int ranks = 0;    // that it had, as far as its inputs say
  int dumps = 0;    // ranks with a Flight Recorder dump
  int outputs = 0;  // ranks with output of their own
  int output_files = 0;
  int compile_logs = 0;
  int profiles = 0;
  int stacks = 0;
  int snapshots = 0;
  bool ran_out_of_memory = false;
};

enum class AdviceState : uint8_t { kWrong, kMissing, kOk };
std::string_view AdviceStateName(AdviceState state);

// One thing to set. `value` may have {logs} in it: the folder for evidence.
struct Fix {
  enum class Kind : uint8_t { kVariable, kLauncherOption, kCoreLimit, kRemove, kPython };
  Kind kind = Kind::kVariable;
  std::string name;
  std::string value;
};

struct Advice {
  AdviceState state = AdviceState::kMissing;
  std::string subject;  // "TORCH_NCCL_DUMP_ON_TIMEOUT=0 (line 12)"
  std::string why;      // one sentence without its full stop
  std::vector<Fix> fixes;
};

// What is wrong first, then what is missing, then what is right.
std::vector<Advice> Advise(const Setup& setup, const std::optional<JobEvidence>& job);

// Variables that a setup of the environment has to be told about: "TORCH_", ...
bool IsOfInterest(std::string_view variable);

}  // namespace debrief::doctor
