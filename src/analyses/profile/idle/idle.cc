// Why do the devices idle? Every gap between their work gets one cause, from what the thread that
// launched the next work did meanwhile.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/idle/findings.h"
#include "compat/hta/tables.h"
#include "model/timeline/idle_gaps.h"
#include "model/timeline/view.h"
#include "tables/profile_gap.h"
#include "tables/profile_idle.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::profile_idle {

namespace {

using timeline::Cause;
using timeline::Gap;
using timeline::TimelineView;

constexpr size_t kMostGaps = 50;

struct Group {
  int64_t idle_ns = 0, gaps = 0, longest_ns = 0;
  std::unordered_map<StringId, int64_t> by_host;  // names of the model
};

using GroupKey = std::tuple<int32_t, Cause, std::string_view>;  // device, cause, detail

std::string_view DetailOf(const TimelineView& view, const Gap& gap) {
  if (gap.cause == Cause::kOther) return gap.launch == kNone32 ? "unlinked" : "queued";
  if (gap.cause != Cause::kHost) return {};
  if (!gap.host_covers_most) return "nothing";
  return view.model.pools.Text(view.kind[TimelineView::At(gap.host)]);
}

std::map<GroupKey, Group> GroupGaps(const TimelineView& view, const std::vector<Gap>& gaps) {
  std::map<GroupKey, Group> groups;
  for (const Gap& gap : gaps) {
    Group& group = groups[{gap.device, gap.cause, DetailOf(view, gap)}];
    group.idle_ns += gap.time.length();
    ++group.gaps;
    group.longest_ns = std::max(group.longest_ns, gap.time.length());
    if (IsOfHost(gap.cause) && gap.host != kNone32)
      group.by_host[view.name[TimelineView::At(gap.host)]] += gap.time.length();
  }
  return groups;
}

void AddIdle(const TimelineView& view, const std::vector<Gap>& gaps, Part& part) {
  std::map<GroupKey, Group> groups = GroupGaps(view, gaps);
  std::map<int32_t, int64_t> of_device;
  for (const auto& [key, group] : groups) of_device[std::get<0>(key)] += group.idle_ns;
  for (const auto& [key, group] : groups) {
    const auto& [device, cause, detail] = key;
    auto row = view.NewRow<ProfileIdleRow>();
    row.definition = part.pools.Intern("debrief");
    row.device = device;
    row.category = part.pools.Intern(CauseName(cause));
    if (!detail.empty()) row.detail = part.pools.Intern(detail);
    row.idle_ns = group.idle_ns;
    row.ratio = static_cast<double>(group.idle_ns) / static_cast<double>(of_device[device]);
    row.gaps = group.gaps;
    row.longest_ns = group.longest_ns;
    StringId busiest = Busiest(group.by_host).first;
    if (busiest != StringId::kNone)
      row.busiest_host = part.pools.Intern(view.model.pools.Text(busiest));
    part.tables.Edit<ProfileIdleTable>().Add(row);
  }
}

void AddLongestGaps(const TimelineView& view, const std::vector<Gap>& gaps, Part& part) {
  std::vector<const Gap*> longest;
  for (const Gap& gap : gaps) longest.push_back(&gap);
  size_t count = std::min(kMostGaps, longest.size());
  std::partial_sort(longest.begin(), longest.begin() + static_cast<ptrdiff_t>(count), longest.end(),
                    [](const Gap* a, const Gap* b) {
                      return std::tuple(b->time.length(), a->time.begin, a->device) <
                             std::tuple(a->time.length(), b->time.begin, b->device);
                    });
  for (size_t i = 0; i < count; ++i) {
    const Gap& gap = *longest[i];
    auto row = view.NewRow<ProfileGapRow>();
    row.place = static_cast<int32_t>(i) + 1;
    row.device = gap.device;
    row.start_ns = gap.time.begin;
    row.end_ns = gap.time.end;
    row.duration_ns = gap.time.length();
    row.cause = part.pools.Intern(CauseName(gap.cause));
    row.host = view.CopyName(gap.host, part);
    if (gap.host != kNone32)
      row.host_kind =
          part.pools.Intern(view.model.pools.Text(view.kind[TimelineView::At(gap.host)]));
    row.host_slice = gap.host;
    row.launch_slice = gap.launch;
    row.op = view.CopyName(gap.op, part);
    row.work = view.CopyName(gap.work, part);
    row.work_slice = gap.work;
    part.tables.Edit<ProfileGapTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  hta::Names hta_names(model);
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
    hta::AddIdle(view, hta_names, result.part);
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
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileIdleTable, ProfileGapTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_idle
