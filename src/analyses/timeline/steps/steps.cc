// Where do the steps of the program begin and end? The profiler's own marks tell; without them, a
// clear repetition of the work on the device.
//
// The device runs behind the host, so a step has two spans: that of the host, and that of the work
// which the host launched in it. Cost: two passes over the slices and a sort of those with ids.
#include "analyses/timeline/steps/steps.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "model/timeline/view.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::timeline_steps {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

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
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// Steps sorted by start, marks of the same step together, none longer than until the next.
std::vector<Step> Joined(std::vector<Step> marks) {
  std::sort(marks.begin(), marks.end(), ByStart);
  std::vector<Step> steps;
  for (const Step& mark : marks) {
    const bool same = !steps.empty() && mark.start < steps.back().end &&
                      (mark.label == steps.back().label || mark.start == steps.back().start);
    if (same) {
      steps.back().end = std::max(steps.back().end, mark.end);
    } else {
      if (!steps.empty()) steps.back().end = std::min(steps.back().end, mark.start);
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
    marks.push_back({.label = LabelOf(view.NameOf(slice)),
                     .start = view.start[TimelineView::At(slice)],
                     .end = view.end(slice)});
  }
  return Joined(std::move(marks));
}

// Fills in the work that each step launched. Work that no call launched counts where it ran.
void CountWork(const TimelineView& view, std::span<const WorkOrigin> origins,
               std::vector<Step>& steps) {
  for (const WorkOrigin& origin : origins) {
    const int32_t when = origin.host() == kNone32 ? origin.work : origin.host();
    const int64_t time = view.start[TimelineView::At(when)];
    auto after = std::upper_bound(steps.begin(), steps.end(), time,
                                  [](int64_t at, const Step& step) { return at < step.start; });
    if (after == steps.begin() || time >= std::prev(after)->end) continue;
    Step& step = *std::prev(after);
    const int64_t start = view.start[TimelineView::At(origin.work)];
    step.device_start = step.launches == 0 ? start : std::min(step.device_start, start);
    step.device_end = std::max(step.device_end, view.end(origin.work));
    ++step.launches;
  }
}

// The last step is cut when it has clearly less work than the one before.
void MarkCutSteps(std::vector<Step>& steps) {
  if (steps.size() < 2) return;
  Step& last = steps.back();
  last.whole = last.launches * 100 >= steps[steps.size() - 2].launches * kWholeShare;
}

void AddSteps(const TimelineView& view, const std::vector<Step>& steps, std::string_view source,
              Part& part) {
  auto& table = part.tables.Edit<TimelineStepTable>();
  for (size_t i = 0; i < steps.size(); ++i) {
    auto row = view.NewRow<TimelineStepRow>();
    row.step = static_cast<int32_t>(i);
    row.label = steps[i].label;
    row.start_ns = steps[i].start;
    row.end_ns = steps[i].end;
    row.device_start_ns = steps[i].device_start;
    row.device_end_ns = steps[i].device_end;
    row.launches = steps[i].launches;
    row.source = part.pools.Intern(source);
    row.whole = steps[i].whole;
    table.Add(row);
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
    AddSteps(view, steps, is_marked ? "annotation" : "period", part);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_steps",
               .sentence = "Where do the steps of the program begin and end?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<TimelineStepTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_steps
