// How long do steps take, how do they vary, and is one of them odd?
//
// A device runs behind the host, so a step lasts until the last work that was launched in it. Cost:
// one pass over the work of devices; figures of a step are intersections with its window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/stats/noise.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"
#include "model/finding.h"
#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/rank_windows.h"
#include "model/timeline/view.h"
#include "tables/profile_step.h"
#include "tables/profile_step_stats.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_steps {

namespace {

// Figures of a step, in the order of kFigureNames.
enum Figure : size_t {
  kHost,
  kDuration,
  kBusy,
  kCompute,
  kExposedCommunication,
  kExposedMemory,
  kIdle,
  kWorks,
  kKernels,
  kFigures
};
constexpr std::array<std::string_view, kFigures> kFigureNames = {
    "host_ns",           "duration_ns", "busy_ns", "compute_ns", "exposed_communication_ns",
    "exposed_memory_ns", "idle_ns",     "works",   "kernels"};

struct StepFigures {
  int32_t step = kNone32;
  int64_t label = kNone64;
  int64_t start = 0;
  bool whole = true;
  bool on_device = true;  // work of devices was recorded
  std::array<int64_t, kFigures> figures{};
  int64_t compile_ns = 0;  // of the host; known where a step is slow
  int64_t data_ns = 0;
};

// With fewer steps a median says little about what is usual.
constexpr size_t kFewestSteps = 4;
// Distance from the median in median absolute deviations; of normal noise one in 1e11 is as far.
constexpr int64_t kMostDeviations = 10;
// And a quarter longer than usual: what is less is seldom worth a look, however steady the rest.
constexpr int64_t kSlowPercent = 125;

std::vector<int64_t> Values(const std::vector<StepFigures>& steps, size_t figure) {
  std::vector<int64_t> values;
  for (const StepFigures& step : steps) {
    if (step.whole) values.push_back(step.figures[figure]);
  }
  return values;
}

struct Growth {
  std::string_view what;
  int64_t ns = 0;
};

// Why a device is idle longer than usual: the host does in this time what it does not do otherwise,
// for most of it.
Growth ReasonOfIdle(const std::vector<StepFigures>& steps, const StepFigures& slow, Growth idle) {
  constexpr std::pair<int64_t StepFigures::*, std::string_view> kReasons[] = {
      {&StepFigures::compile_ns, "compiling"}, {&StepFigures::data_ns, "data loading"}};
  for (const auto& [measure, what] : kReasons) {
    std::vector<int64_t> usual;
    for (const StepFigures& step : steps) usual.push_back(step.*measure);
    const int64_t grown = slow.*measure - Median(std::move(usual));
    if (2 * grown > idle.ns) return {what, grown};
  }
  return idle;
}

// The part of the step that grew most over what it usually is.
Growth LargestGrowth(const std::vector<StepFigures>& steps, const StepFigures& slow) {
  constexpr std::pair<Figure, std::string_view> kParts[] = {
      {kIdle, "idle time of the device"},
      {kCompute, "computation"},
      {kExposedCommunication, "communication that nothing hides"},
      {kExposedMemory, "copies and fills that nothing hides"}};
  Growth largest;
  for (const auto& [figure, what] : kParts) {
    const int64_t grown = slow.figures[figure] - Median(Values(steps, figure));
    if (grown > largest.ns) largest = {what, grown};
  }
  return largest.what.starts_with("idle") ? ReasonOfIdle(steps, slow, largest) : largest;
}

std::string NextStep(std::string_view grown) {
  if (grown.starts_with("idle")) return "See what the host did in this step: table profile_gap.";
  if (grown == "compiling")
    return "See what compiles again and why: TORCH_LOGS=recompiles, or TORCH_TRACE and debrief "
           "compile.";
  if (grown == "data loading")
    return "Look at the data loader: storage, workers, prefetching, uneven samples.";
  if (grown.starts_with("communication"))
    return "See which rank came late to the collectives of this step.";
  return "Compare the kernels of this step with those of another: table timeline_launch.";
}

// On how many of the ranks, where more than one was recorded.
std::string Where(const std::vector<int32_t>& ranks, size_t slow, size_t timelines) {
  if (timelines == 1) return ranks.empty() ? "" : fmt::format(" on rank {}", ranks[0]);
  if (slow == timelines) return fmt::format(" on all {} ranks", timelines);
  return fmt::format(" on {} of {} ranks", slow, timelines);
}

// Steps that are clearly slower than the others of their rank, of all jobs. A step that is slow on
// several ranks is one finding, and blames ranks only when it is slow on a few of them.
class SlowSteps {
 public:
  // `first_row`: of the steps in the result's table profile_step. `add_host_times(steps)` finds out
  // what hosts did in them.
  template <typename AddHostTimes>
  void Look(const Identity& who, std::vector<StepFigures>& steps, size_t first_row,
            const AddHostTimes& add_host_times) {
    const Job job{who.job, who.attempt};
    ++timelines_[job];
    const std::vector<int64_t> durations = Values(steps, kDuration);
    const int64_t median = durations.size() < kFewestSteps ? 0 : Median(durations);
    if (median <= 0) return;
    const int64_t limit = std::max(PercentOf(median, kSlowPercent),
                                   median + kMostDeviations * MedianDeviation(durations));
    auto is_slow = [&](const StepFigures& step) {
      return step.whole && step.figures[kDuration] > limit;
    };
    if (std::ranges::none_of(steps, is_slow)) return;
    add_host_times(steps);
    for (size_t i = 0; i < steps.size(); ++i) {
      const StepFigures& step = steps[i];
      if (!is_slow(step)) continue;
      const Growth growth = step.on_device ? LargestGrowth(steps, step) : Growth{};
      slow_[{job, step.label == kNone64 ? step.step : step.label}].push_back(
          {who.rank, step.figures[kDuration], median, durations.size(), growth.what, growth.ns,
           i == 0, static_cast<int64_t>(first_row + i)});
    }
  }

  void AddFindings(std::vector<Finding>& findings) const {
    for (const auto& [key, slow] : slow_)
      findings.push_back(ToFinding(key.first, key.second, slow));
  }

 private:
  struct Slow {
    int32_t rank = kNone32;
    int64_t duration_ns = 0;
    int64_t median_ns = 0;
    size_t steps = 0;       // that the median is of
    std::string_view grew;  // what grew most; empty when not known
    int64_t growth_ns = 0;
    bool is_first = false;  // of the recording
    int64_t row = 0;
  };
  using Job = std::pair<int32_t, int32_t>;  // and attempt

  Finding ToFinding(const Job& job, int64_t label, const std::vector<Slow>& slow) const {
    const Slow& worst = *std::max_element(
        slow.begin(), slow.end(),
        [](const Slow& a, const Slow& b) { return a.duration_ns < b.duration_ns; });
    const size_t timelines = timelines_.at(job);
    Finding finding;
    finding.rule = "profile.slow_step";
    // The first step that is recorded pays for the start of the profiler.
    finding.severity = worst.is_first ? Severity::kInfo : Severity::kWarning;
    finding.job = job.first;
    finding.attempt = job.second;
    for (const Slow& each : slow) {
      const bool few = timelines == 1 || slow.size() * 2 <= timelines;
      if (few && each.rank != kNone32) finding.ranks.push_back(each.rank);
      finding.evidence.push_back(
          {fmt::format("{}{}; the median of {} whole steps is {}",
                       each.rank == kNone32 ? "" : fmt::format("rank {}: ", each.rank),
                       DurationText(each.duration_ns), each.steps, DurationText(each.median_ns)),
           "profile_step",
           {each.row}});
    }
    const auto duration = static_cast<double>(worst.duration_ns);
    finding.headline =
        fmt::format("Step {}{} took {}{}{}, {:.1f} x the median", label,
                    worst.is_first ? " (the first recorded)" : "", slow.size() > 1 ? "up to " : "",
                    DurationText(worst.duration_ns), Where(finding.ranks, slow.size(), timelines),
                    duration / static_cast<double>(worst.median_ns));
    if (worst.growth_ns > 0)
      finding.headline += fmt::format(": {} more {}", DurationText(worst.growth_ns), worst.grew);
    finding.confidence = 0.9;
    finding.why =
        "far outside of how the other steps of the same recording vary; a step lasts until the "
        "work that "
        "it launched is done";
    finding.next_step = NextStep(worst.grew);
    return finding;
  }

  std::map<std::pair<Job, int64_t>, std::vector<Slow>> slow_;  // by label
  std::map<Job, size_t> timelines_;
};

using timeline::TimelineView;

void SetDeviceTimes(const timeline::TimeSplit& split, StepFigures& step) {
  step.figures[kBusy] = split.busy;
  step.figures[kCompute] = split.compute;
  step.figures[kExposedCommunication] = split.exposed_communication;
  step.figures[kExposedMemory] = split.exposed_memory;
  step.figures[kIdle] = split.idle;
}

// Steps are in the order of their numbers.
void CountKernels(const TimelineView& view, std::vector<StepFigures>& steps) {
  const auto& launches = view.model.tables.Get<TimelineLaunchTable>();
  const timeline::RowRange rows = timeline::RowsOf(launches, view.who.input);
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (launches.step[row] == kNone32) continue;
    const size_t slice = TimelineView::At(launches.slice[row]);
    auto step = std::ranges::lower_bound(steps, launches.step[row], {}, &StepFigures::step);
    if (step != steps.end() && view.kind[slice] == view.kinds.kernel) ++step->figures[kKernels];
  }
}

std::vector<StepFigures> StepFiguresOf(const TimelineView& view,
                                       const timeline::DeviceClasses& classes) {
  const std::vector<timeline::StepWindow> windows = timeline::StepWindowsOf(view);
  if (windows.empty()) return {};
  const auto& table = view.model.tables.Get<TimelineStepTable>();
  const size_t first = timeline::RowsOf(table, view.who.input).begin;
  const timeline::DeviceWorks works = timeline::DeviceWorksOf(view, classes);
  const timeline::ClassTimes times = timeline::ClassTimesOf(works.works);
  std::vector<StepFigures> steps;
  for (size_t i = 0; i < windows.size(); ++i) {
    const size_t row = first + i;
    StepFigures step = {.step = windows[i].step,
                        .label = table.label[row],
                        .start = windows[i].time.begin,
                        .whole = table.whole[row] != 0,
                        .on_device = !works.works.empty()};
    step.figures[kHost] = table.end_ns[row] - table.start_ns[row];
    step.figures[kDuration] = windows[i].time.length();
    step.figures[kWorks] = windows[i].launches;
    SetDeviceTimes(timeline::SplitTime(times, windows[i].time), step);
    steps.push_back(step);
  }
  CountKernels(view, steps);
  return steps;
}

void AddHostTimes(const TimelineView& view, const timeline::DeviceClasses& classes,
                  const timeline::NameMarks& marks, std::vector<StepFigures>& steps) {
  const timeline::RankWindows measured = timeline::MeasureRank(view, classes, marks, {});
  for (const timeline::Window& window : measured.windows) {
    for (StepFigures& step : steps) {
      if (window.key != (step.label == kNone64 ? int64_t{step.step} : step.label)) continue;
      step.compile_ns = window.compile_ns;
      step.data_ns = window.data_ns;
    }
  }
}

// Of a timeline without work of devices nothing is said about devices.
bool IsOfDevice(size_t figure) { return figure != kHost && figure != kDuration; }

void AddSteps(const TimelineView& view, const std::vector<StepFigures>& steps, Part& part) {
  for (const StepFigures& step : steps) {
    auto row = view.NewRow<ProfileStepRow>();
    row.step = step.step;
    row.label = step.label;
    row.start_ns = step.start;
    row.whole = step.whole;
    row.host_ns = step.figures[kHost];
    row.duration_ns = step.figures[kDuration];
    if (step.on_device) {
      row.busy_ns = step.figures[kBusy];
      row.compute_ns = step.figures[kCompute];
      row.exposed_communication_ns = step.figures[kExposedCommunication];
      row.exposed_memory_ns = step.figures[kExposedMemory];
      row.idle_ns = step.figures[kIdle];
      row.works = step.figures[kWorks];
      row.kernels = step.figures[kKernels];
    }
    part.tables.Edit<ProfileStepTable>().Add(row);
  }
}

void AddStats(const TimelineView& view, const std::vector<StepFigures>& steps, Part& part) {
  for (size_t figure = 0; figure < kFigures; ++figure) {
    const bool is_known = !steps.empty() && (steps[0].on_device || !IsOfDevice(figure));
    std::vector<int64_t> values = is_known ? Values(steps, figure) : std::vector<int64_t>();
    if (values.empty()) continue;
    const Summary summary = Summarise(values);
    auto row = view.NewRow<ProfileStepStatsRow>();
    row.figure = part.pools.Intern(kFigureNames[figure]);
    row.steps = summary.count;
    row.min = static_cast<double>(summary.min);
    row.median = summary.median;
    row.max = static_cast<double>(summary.max);
    row.mean = summary.mean;
    row.stddev = summary.stddev;
    part.tables.Edit<ProfileStepStatsTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const timeline::DeviceClasses classes(model);
  const timeline::NameMarks marks(model);
  SlowSteps slow;
  for (const TimelineView& view : timeline::Timelines(model)) {
    std::vector<StepFigures> steps = StepFiguresOf(view, classes);
    const size_t first_row = result.part.tables.Get<ProfileStepTable>().size();
    AddSteps(view, steps, result.part);
    AddStats(view, steps, result.part);
    slow.Look(view.who, steps, first_row,
              [&](std::vector<StepFigures>& each) { AddHostTimes(view, classes, marks, each); });
  }
  slow.AddFindings(result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_steps",
               .sentence = "How long do steps take, how do they vary, and is one of them odd?",
               .example =
                   "Step 412 took 812.0 ms on 1 of 8 ranks, 2.1 times as long as usual: 402.3 ms "
                   "more of idle time of the device",
               .needs = kTableNames<TimelineStepTable>,
               .makes = kTableNames<ProfileStepTable, ProfileStepStatsTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_steps
