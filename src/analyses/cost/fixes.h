// Causes of lost time, those whose removal gains most first: rows of cost_fix.
//
//   late_rank   waiting at collectives, by the rank and the state that it goes back to
//   idle        gaps of devices, by state, all ranks together
//   first_step  what of these is more in the first recorded step than in the middle one of the
//               others: the start of the recording, as a rule
//   compile     compiling in steps; anywhere else compiling again, or what most ranks do not
//               compile; by function
//
// The first compilation of a frame outside of steps, on all ranks, is the price of compiling and
// not lost. All causes of a job add up to what its ranks lost in steps, and that compiling.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/cost/blame.h"
#include "analyses/cost/division.h"
#include "analyses/cost/gains.h"
#include "analyses/cost/regions.h"

namespace debrief::analyses::cost {

// What one rank of a job lost and made others lose: rows of cost_rank.
struct RankSums {
  bool by_device = false;
  bool from_steps = false;
  int64_t windows = 0;
  StateTimes times;
  int64_t caused_ns = 0;
  int64_t region_ns = 0;
  int64_t compiled_gpu_ns = 0;
};

using JobKey = std::pair<int32_t, int32_t>;  // job, attempt

enum class FixKind : uint8_t { kLateRank, kIdle, kFirstStep, kCompile };

struct FixKey {
  FixKind kind = FixKind::kIdle;
  State reason = State::kUnknown;
  int32_t culprit = kNone32;        // of kLateRank
  std::string_view function, file;  // of kCompile
  int32_t line = kNone32;
  auto operator<=>(const FixKey&) const = default;
};

struct Fix {
  int64_t lost_ns = 0;
  std::set<int32_t> ranks;  // that lose it
  int64_t times = 0;
  int64_t last_match = kNone64;
  std::map<std::pair<StringId, StringId>, int64_t> where;  // group and op
  std::map<std::string_view, int64_t> compilations;        // by compile id
  bool by_device = true;
  bool again = true;            // nothing but compiling again
  bool alone = true;            // nothing but compiling what most ranks do not compile
  int64_t gain_ns = kNone64;    // of all recorded steps, replayed without it; none: not replayed
  int64_t weight_ns = kNone64;  // what it is ordered by; none: time lost

  int64_t Weight() const { return weight_ns == kNone64 ? lost_ns : weight_ns; }
};

using Fixes = std::map<FixKey, Fix>;

std::map<JobKey, Fixes> FindFixes(const Model& model, const std::vector<Division>& divisions,
                                  const std::vector<WaitBlame>& blames, const Regions& regions,
                                  const CompileTimes& compiling);

// What the steps of the job would gain without each of them.
void SetGains(const ReplayedGains& gains, Fixes& fixes);

// Whether it names something to fix.
bool CanBeFixed(const FixKey& key);

// Those that can be fixed before the others, those that gain most first; ties by key.
std::vector<std::pair<FixKey, const Fix*>> Ordered(const Fixes& fixes);

// "rank 6's host makes 7 ranks wait"
std::string InWords(const FixKey& key, const Fix& fix);

void AddFixRows(const Model& model, const JobKey& job, const Fixes& fixes,
                const ReplayedGains& gains, Part& part);

// Findings: what to fix first, and how much of the steps is compiled.
//
// `first_row`: of cost_fix, the first of the job.
void AddFixFinding(const Model& model, const JobKey& job, const Fixes& fixes,
                   const ReplayedGains& gains, const std::map<RankKey, RankSums>& ranks,
                   int64_t first_row, std::vector<Finding>& findings);

void AddCompiledShares(const std::map<RankKey, RankSums>& ranks, std::vector<Finding>& findings);

}  // namespace debrief::analyses::cost
