// Why do the devices idle? Every gap between their work gets one cause, from what the thread that
// launched the next work did meanwhile.

#include "analyses/analysis.h"
#include "analyses/profile/idle/findings.h"
#include "analyses/profile/idle/hta_idle.h"
#include "analyses/profile/idle/idle_rows.h"
#include "model/timeline/idle_gaps.h"
#include "tables/profile_gap.h"
#include "tables/profile_idle.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_idle {

namespace {

constexpr auto kNeeds = kTableNames<TimelineTable, TimelineSliceTable>;
constexpr auto kUses = kTableNames<TimelineLaunchTable, TimelineStepTable>;
constexpr auto kMakes = kTableNames<ProfileIdleTable, ProfileGapTable>;

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  timeline::HtaNames hta_names(model);
  timeline::HostNames host_names(model);
  std::vector<IdleStory> stories;
  for (const timeline::TimelineView& view : timeline::Timelines(model)) {
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    if (!works.works.empty()) {
      timeline::HostActivity activity(view, host_names);
      std::vector<Gap> gaps = FindGaps(view, works, activity);
      AddIdle(view, gaps, result.part);
      AddLongestGaps(view, gaps, result.part);
      stories.push_back(StoryOf(view, works, gaps, result.part));
    }
    AddHtaIdle(view, HtaRowsOf(view, hta_names), result.part);
  }
  AddFindings(stories, result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_idle",
               .sentence = "Why do the devices idle: host, data, synchronisation, compilation?",
               .example = "The device waits for the data loader for 22 % of the device time (290 "
                          "ms of 1.30 s)",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_idle
