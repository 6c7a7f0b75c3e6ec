// Where do the steps of the program begin and end? The profiler's own marks tell; without them, a
// clear repetition of the work on the device.
//
// The device runs behind the host, so a step has two spans: that of the host, and that of the work
// which the host launched in it. Cost: two passes over the slices and a sort of those with ids.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/timeline/steps/period.h"
#include "analyses/timeline/work_origins.h"
#include "base/text/strings.h"
#include "model/timeline/view.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::timeline_steps {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

using Step = TimelineStepRow;

Step NewStep(const TimelineView& view, int64_t label, int64_t start, int64_t end) {
  auto step = view.NewRow<Step>();
  step.label = label;
  step.start_ns = start;
  step.end_ns = end;
  step.launches = 0;
  step.whole = true;
  return step;
}

// Steps of programs that mark none: served models, loops without a profiler schedule.
//
// The sequence of kernel names on the busiest stream is searched for a period. Layers of a model
// repeat as well; what sets steps apart is that each of them takes input or gives output: a copy
// between host and device, the launch of a graph, or a host that waits for the device. Without one
// for each period nothing is said.

constexpr size_t kFewestWorks = 64;  // of a stream: fewer repeat by chance

using Works = std::vector<const WorkOrigin*>;

// In the order of slices, which on one track is that of time.
Works BusiestStream(const TimelineView& view, std::span<const WorkOrigin> origins) {
  std::unordered_map<int32_t, size_t> works_of;  // by track
  for (const WorkOrigin& origin : origins) ++works_of[view.track[TimelineView::At(origin.work)]];
  int32_t busiest = kNone32;
  for (const WorkOrigin& origin : origins) {
    const int32_t track = view.track[TimelineView::At(origin.work)];
    if (busiest == kNone32 || works_of[track] > works_of[busiest]) busiest = track;
  }
  Works works;
  for (const WorkOrigin& origin : origins) {
    if (view.track[TimelineView::At(origin.work)] == busiest) works.push_back(&origin);
  }
  return works;
}

std::vector<size_t> AnchorsOf(const TimelineView& view, const Works& works) {
  std::unordered_map<StringId, uint32_t> numbers;
  std::vector<uint32_t> names;
  names.reserve(works.size());
  for (const WorkOrigin* work : works) {
    const auto next = static_cast<uint32_t>(numbers.size());
    names.push_back(
        numbers.try_emplace(view.name[TimelineView::At(work->work)], next).first->second);
  }
  return FindAnchors(names, numbers.size());
}

bool IsHostCopy(std::string_view name) {
  constexpr std::string_view kWords[] = {"HtoD",         "DtoH",  "HostToDevice",
                                         "DeviceToHost", " DmaI", " DmaO"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return Contains(name, word); });
}

// Copies between host and device, and launches of graphs.
size_t CountExchanges(const TimelineView& view, std::span<const WorkOrigin> origins) {
  size_t count = 0;
  int32_t last_graph = kNone32;
  for (const WorkOrigin& origin : origins) {
    const bool is_copy = view.kind[TimelineView::At(origin.work)] == view.kinds.memcpy;
    if (is_copy && IsHostCopy(view.NameOf(origin.work))) ++count;
    if (!origin.graph || origin.call == last_graph) continue;
    last_graph = origin.call;
    ++count;
  }
  return count;
}

// Calls in which the host waits for the device.
size_t CountWaits(const TimelineView& view) {
  timeline::OfName<bool> waits(view.model.pools,
                               [](std::string_view name) { return Contains(name, "Synchronize"); });
  size_t count = 0;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (view.kind[TimelineView::At(slice)] != view.kinds.runtime) continue;
    if (waits(view.name[TimelineView::At(slice)])) ++count;
  }
  return count;
}

int64_t HostStart(const TimelineView& view, const WorkOrigin& origin) {
  const int32_t slice = origin.host() == kNone32 ? origin.work : origin.host();
  return view.start[TimelineView::At(slice)];
}

// By repetition of the work on the busiest stream; empty unless the work is clearly periodic.
std::vector<Step> PeriodicSteps(const TimelineView& view, std::span<const WorkOrigin> origins) {
  const Works works = BusiestStream(view, origins);
  if (works.size() < kFewestWorks) return {};
  const std::vector<size_t> anchors = AnchorsOf(view, works);
  if (anchors.empty()) return {};
  const size_t exchanges = std::max(CountExchanges(view, origins), CountWaits(view));
  if (exchanges + 1 < anchors.size()) return {};
  std::vector<Step> steps;
  for (size_t anchor : anchors) {
    const int64_t start = HostStart(view, *works[anchor]);
    if (!steps.empty() && start <= steps.back().start_ns)
      return {};  // the host does not go in steps
    if (!steps.empty()) steps.back().end_ns = start;
    steps.push_back(NewStep(view, kNone64, start, 0));
  }
  for (const WorkOrigin& origin : origins)
    steps.back().end_ns = std::max(steps.back().end_ns, HostStart(view, origin) + 1);
  return steps;
}

constexpr std::string_view kMark = "ProfilerStep";

// The share of work, in percent, below which a last step counts as cut: that of the TensorBoard
// plug-in.
constexpr int64_t kWholeShare = 80;

// ProfilerStep#412 -> 412; none when there is no number.
int64_t LabelOf(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find_first_of("0123456789")));
  int64_t label = kNone64;
  std::from_chars(name.data(), name.data() + name.size(), label);
  return label;
}

bool IsMark(const TimelineView& view, int32_t slice, timeline::OfName<bool>& is_mark) {
  const size_t at = TimelineView::At(slice);
  const StringId kind = view.kind[at];
  return (kind == view.kinds.annotation || kind == view.kinds.op) && is_mark(view.name[at]);
}

bool ByStart(const Step& a, const Step& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
}

// Steps sorted by start, marks of the same step together, none longer than until the next.
std::vector<Step> Joined(std::vector<Step> marks) {
  std::sort(marks.begin(), marks.end(), ByStart);
  std::vector<Step> steps;
  for (const Step& mark : marks) {
    const bool same = !steps.empty() && mark.start_ns < steps.back().end_ns &&
                      (mark.label == steps.back().label || mark.start_ns == steps.back().start_ns);
    if (same) {
      steps.back().end_ns = std::max(steps.back().end_ns, mark.end_ns);
    } else {
      if (!steps.empty()) steps.back().end_ns = std::min(steps.back().end_ns, mark.start_ns);
      steps.push_back(mark);
    }
  }
  return steps;
}

// By the profiler's marks (ProfilerStep#412), sorted by start. A mark may be there twice, as an op
// and as an annotation; an end is never behind the next start.
std::vector<Step> MarkedSteps(const TimelineView& view) {
  std::vector<Step> marks;
  timeline::OfName<bool> is_mark(view.model.pools,
                                 [](std::string_view name) { return name.starts_with(kMark); });
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    if (!IsMark(view, slice, is_mark)) continue;
    marks.push_back(NewStep(view, LabelOf(view.NameOf(slice)), view.start[TimelineView::At(slice)],
                            view.end(slice)));
  }
  return Joined(std::move(marks));
}

// Fills in the work that each step launched. Work that no call launched counts where it ran.
void CountWork(const TimelineView& view, std::span<const WorkOrigin> origins,
               std::vector<Step>& steps) {
  for (const WorkOrigin& origin : origins) {
    const int64_t time = HostStart(view, origin);
    auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                  [](int64_t at, const Step& step) { return at < step.start_ns; });
    if (after == steps.begin() || time >= std::prev(after)->end_ns) continue;
    Step& step = *std::prev(after);
    const int64_t start = view.start[TimelineView::At(origin.work)];
    step.device_start_ns = step.launches == 0 ? start : std::min(step.device_start_ns, start);
    step.device_end_ns = std::max(step.device_end_ns, view.end(origin.work));
    ++step.launches;
  }
}

// The last step is cut when it has clearly less work than the one before.
void MarkCutSteps(std::vector<Step>& steps) {
  if (steps.size() < 2) return;
  Step& last = steps.back();
  last.whole = last.launches * 100 >= steps[steps.size() - 2].launches * kWholeShare;
}

// Steps have the numbers of the profiler's marks, which the program's own output counts by as well;
// where a mark has none or they do not ascend, they are counted from 0.
bool HaveNumbers(const std::vector<Step>& steps) {
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  int64_t before = -1;
  for (const Step& step : steps) {
    if (step.label <= before || step.label > kLargest) return false;  // none is the smallest
    before = step.label;
  }
  return true;
}

void AddSteps(std::vector<Step>& steps, std::string_view source, Part& part) {
  const bool numbered = HaveNumbers(steps);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].step = static_cast<int32_t>(numbered ? steps[i].label : static_cast<int64_t>(i));
    steps[i].source = part.pools.Intern(source);
    part.tables.Edit<TimelineStepTable>().Add(steps[i]);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [](const TimelineView& view, Part& part) {
    const auto origins = timeline::WorkOriginsOf(view);
    std::vector<Step> steps = MarkedSteps(view);
    const bool is_marked = !steps.empty();
    if (!is_marked) steps = PeriodicSteps(view, origins);
    CountWork(view, origins, steps);
    MarkCutSteps(steps);
    AddSteps(steps, is_marked ? "annotation" : "period", part);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_steps",
               .scope = AnalysisScope::kRank,
               .sentence = "Where do the steps of the program begin and end?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<TimelineStepTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_steps
