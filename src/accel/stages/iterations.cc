#include "accel/stages/iterations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "accel/run.h"
#include "accel/stages/stages.h"
#include "compat/acelyzer/python_text.h"
#include "model/accel/iterations.h"

namespace debrief::accel {

// collect_iteration_stats: how long an iteration of each rank takes, from the order in which its
// kernels repeat (model/accel/iterations.h), or from the steps that the program marked itself
// (ProfilerStep#n). Changes nothing.
//
// Cost: sorts the kernels of each rank; linear else.

namespace {

struct TimedKernel {
  double ts = 0;
  double end = 0;
  uint32_t name = 0;
  uint32_t job = 0;
};

struct Collected {
  std::vector<TimedKernel> kernels;  // with cycle stamps
  std::vector<TimedKernel> torch_kernels;
  std::vector<std::pair<double, double>> steps;  // marked ones: start, end
};

bool IsStep(const Event& event, const Run& run) {
  return run.Text(event.name).starts_with("ProfilerStep#");
}

// A rank that was recorded by Flex and by torch has its kernels twice: those with stamps are used.
// The reference knows no others.
void AddToRank(const Event& event, ByValue<Collected>& ranks, Run& run) {
  const bool compat = run.options.compat;
  const TimedKernel kernel{event.ts, event.end(), static_cast<uint32_t>(event.name), event.job};
  if (run.Traits(event).cmpt_exec && event.Has(key::kTS1)) {
    ranks[compat ? event.pid : RankOf(event)].kernels.push_back(kernel);
  } else if (compat || run.DialectOf(event) != Dialect::kTorch) {
    return;
  } else if (IsKernel(event, run)) {
    ranks[RankOf(event)].torch_kernels.push_back(kernel);
  } else if (IsStep(event, run) && event.cat == key::kUserAnnotation) {
    ranks[RankOf(event)].steps.emplace_back(event.ts, event.end());
  }
}

ByValue<Collected> CollectKernels(const EventList& events, Run& run) {
  ByValue<Collected> ranks;
  for (const Event& event : events) {
    if (event.phase == 'X') AddToRank(event, ranks, run);
  }
  for (auto& [rank, collected] : ranks) {
    if (collected.kernels.empty()) collected.kernels = std::move(collected.torch_kernels);
  }
  return ranks;
}

double LastEnd(const std::vector<TimedKernel>& kernels, size_t begin, size_t end) {
  double last = kernels[begin].end;
  for (size_t i = begin; i < end; ++i) last = std::max(last, kernels[i].end);
  return last;
}

// What repeats within no time at all is no iteration: the clock stood still, or a file is there
// twice.
void LeaveOutTimeless(RankIterations& rank) {
  rank.without_time = std::erase_if(rank.lengths, [](double length) { return length <= 0; });
  if (rank.without_time == 0 || !rank.lengths.empty()) return;
  rank.why_not =
      fmt::format("{} repetition{} of {} kernel{} begin{} at the same moment as the first",
                  rank.without_time, rank.without_time == 1 ? "" : "s", rank.period,
                  rank.period == 1 ? "" : "s", rank.without_time == 1 ? "s" : "");
  rank.period = 0;
  rank.starts.clear();
  rank.ends.clear();
}

void FromKernels(std::vector<TimedKernel> kernels, bool compat, RankIterations& rank) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const TimedKernel& a, const TimedKernel& b) { return a.ts < b.ts; });
  std::vector<uint32_t> names;
  names.reserve(kernels.size());
  for (const TimedKernel& kernel : kernels) names.push_back(kernel.name);
  const Iterations found = FindIterations(names);
  rank.kernels = kernels.size();
  rank.period = found.period;
  rank.why_not = found.why_not;
  for (size_t i = 0; i < found.starts.size(); ++i) {
    const size_t at = found.starts[i];
    const size_t next = at + found.period;
    // What lies between two jobs belongs to none; the reference counts it.
    const bool followed = i + 1 < found.starts.size() && found.starts[i + 1] == next &&
                          (compat || kernels[at].job == kernels[next].job);
    rank.starts.push_back(kernels[at].ts);
    rank.ends.push_back(followed ? kernels[next].ts : LastEnd(kernels, at, next));
    if (followed) rank.lengths.push_back(kernels[next].ts - kernels[at].ts);
  }
  if (!compat) LeaveOutTimeless(rank);
}

void FromSteps(std::vector<std::pair<double, double>> steps, RankIterations& rank) {
  std::sort(steps.begin(), steps.end());
  rank.from_annotations = true;
  rank.period = 1;
  for (size_t i = 0; i < steps.size(); ++i) {
    rank.starts.push_back(steps[i].first);
    rank.ends.push_back(i + 1 < steps.size() ? steps[i + 1].first : steps[i].second);
    if (i > 0) rank.lengths.push_back(steps[i].first - steps[i - 1].first);
  }
  rank.without_time = std::erase_if(rank.lengths, [](double length) { return length <= 0; });
}

// The reference needs ten kernels before it looks.
void LogIterations(const Value& pid, RankIterations& rank, Run& run) {
  const Spread spread = SpreadOf(rank.lengths);
  std::string line =
      fmt::format("ITSTATS: [{}] avg_iteration_time={}, iterations={}", pid.AsText(run.strings),
                  PythonFloat(spread.mean), rank.lengths.size());
  if (!run.options.compat && rank.period == 0) {
    line += fmt::format(" (no iterations: {})", rank.why_not);
  } else if (!run.options.compat && rank.lengths.empty()) {
    line += " (no two iterations follow each other)";
  } else if (!run.options.compat) {
    line += fmt::format(", stdev={:.3f}, min={:.3f}, max={:.3f} us", spread.deviation, spread.min,
                        spread.max);
  }
  run.console.Info(line);
}

}  // namespace

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const double count = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  spread.min = *low;
  spread.max = *high;
  return spread;
}

void CollectIterationStats(EventList& events, Run& run) {
  constexpr size_t kFewest = 10;
  auto& stats = run.Shared<IterationStats>();
  for (auto& [pid, collected] : CollectKernels(events, run)) {
    RankIterations& rank = stats.ranks[pid];
    if (!collected.steps.empty()) {
      FromSteps(std::move(collected.steps), rank);
    } else if (!run.options.compat || collected.kernels.size() >= kFewest) {
      FromKernels(std::move(collected.kernels), run.options.compat, rank);
    }
    LogIterations(pid, rank, run);
  }
}

}  // namespace debrief::accel
