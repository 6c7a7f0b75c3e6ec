// Where do the steps of the program begin and end? The profiler's own marks tell; without them, a
// clear repetition of the work on the device.
//
// The device runs behind the host, so a step has two spans: that of the host, and that of the work
// which the host launched in it. Cost: two passes over the slices and a sort of those with ids.
#include "analyses/analysis.h"

#include "analyses/by_timeline.h"
#include "analyses/timeline/steps/steps.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::timeline_steps {

namespace {

using timeline::TimelineView;

constexpr auto kNeeds = kTableNames<TimelineSliceTable>;
constexpr auto kMakes = kTableNames<TimelineStepTable>;

void AddSteps(const TimelineView& view, const std::vector<Step>& steps, std::string_view source,
              Part& part) {
  auto& table = part.tables.Edit<TimelineStepTable>();
  for (size_t i = 0; i < steps.size(); ++i) {
    auto row = Part::RowOf<TimelineStepRow>(view.who);
    row.input = view.who.input;
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
               .needs = kNeeds,
               .makes = kMakes},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_steps
