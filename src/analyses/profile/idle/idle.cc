// Why do the devices idle? Every gap between their work gets one cause, from what the thread that
// launched the next work did meanwhile.
#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/profile/idle/findings.h"
#include "base/stats/statistics.h"
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

using timeline::TimelineView;

// A few launches of 5 to 10 us each.
constexpr int64_t kLaunchGapNs = 50'000;

// The nearest slice of a kind around `slice`, itself included.
template <typename Wanted>
int32_t Climb(const TimelineView& view, int32_t slice, Wanted wanted) {
  while (slice != kNone32 && !wanted(slice)) slice = view.parent[TimelineView::At(slice)];
  return slice;
}

bool IsUserFrame(const TimelineView& view, int32_t slice) {
  std::string_view name = view.NameOf(slice);
  return view.kind[TimelineView::At(slice)] == view.kinds.python && !name.starts_with("torch/") &&
         !name.starts_with("<") && !name.starts_with("nn.Module") &&
         name.find("/torch/") == std::string_view::npos;
}

std::string NameOrNothing(const TimelineView& view, int32_t slice) {
  return slice == kNone32 ? std::string() : std::string(view.NameOf(slice));
}

using Place = std::tuple<StringId, StringId, StringId>;  // call, op, frame

struct PlaceWaits {
  Waits waits;
  int64_t last_step = -1;
};

std::vector<Waits> WaitsOf(const TimelineView& view, const std::vector<Gap>& gaps,
                           const timeline::StepFinder& steps) {
  std::map<Place, PlaceWaits> places;
  auto name = [&](int32_t slice) {
    return slice == kNone32 ? StringId::kNone : view.name[TimelineView::At(slice)];
  };
  for (const Gap& gap : gaps) {
    if (gap.cause != Cause::kSync || gap.host == kNone32) continue;
    int32_t op = Climb(view, gap.host, [&](int32_t each) {
      return view.kind[TimelineView::At(each)] == view.kinds.op;
    });
    int32_t frame = Climb(view, gap.host, [&](int32_t each) { return IsUserFrame(view, each); });
    PlaceWaits& place = places[{name(gap.host), name(op), name(frame)}];
    if (place.waits.gaps++ == 0) {
      place.waits.call = NameOrNothing(view, gap.host);
      place.waits.op = NameOrNothing(view, op);
      place.waits.frame = NameOrNothing(view, frame);
    }
    place.waits.idle_ns += gap.time.length();
    int64_t step = steps.BegunBy(gap.time.begin);
    if (!steps.empty() && step != place.last_step) ++place.waits.steps;
    place.last_step = step;
  }
  std::vector<Waits> waits;
  for (auto& [key, place] : places) waits.push_back(std::move(place.waits));
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Waits& a, const Waits& b) { return a.idle_ns > b.idle_ns; });
  return waits;
}

// The name with the longest time, and that time; of the same time the first name.
std::pair<StringId, int64_t> Busiest(const std::unordered_map<StringId, int64_t>& times) {
  std::pair<StringId, int64_t> busiest{StringId::kNone, 0};
  for (const auto& [name, time] : times) {
    if (time > busiest.second || (time == busiest.second && name < busiest.first))
      busiest = {name, time};
  }
  return busiest;
}

void SetBusiest(const TimelineView& view, const std::vector<Gap>& gaps, IdleStory& story) {
  std::unordered_map<StringId, int64_t> by_name;
  for (const Gap& gap : gaps) {
    if (gap.cause != Cause::kHost) continue;
    StringId name = gap.host_covers_most ? view.name[TimelineView::At(gap.host)] : StringId::kNone;
    by_name[name] += gap.time.length();
  }
  const auto [busiest, time] = Busiest(by_name);
  story.busiest_ns = time;
  if (busiest != StringId::kNone) story.busiest = view.model.pools.Text(busiest);
}

int64_t SpanOfDevices(const timeline::DeviceWorks& works) {
  std::map<int32_t, Interval> spans;
  for (const timeline::DeviceWork& work : works.works) {
    auto [found, is_new] = spans.try_emplace(work.device, work.time);
    found->second.end = std::max(found->second.end, work.time.end);
  }
  int64_t sum = 0;
  for (const auto& [device, span] : spans) sum += span.length();
  return sum;
}

std::vector<int64_t> KernelTimes(const timeline::DeviceWorks& works) {
  std::vector<int64_t> durations;
  for (const timeline::DeviceWork& work : works.works) {
    if (work.device_class == timeline::DeviceClass::kCompute)
      durations.push_back(work.time.length());
  }
  return durations;
}

// After the rows of profile_idle are in `part`.
IdleStory StoryOf(const TimelineView& view, const timeline::DeviceWorks& works,
                  const std::vector<Gap>& gaps, const Part& part) {
  timeline::StepFinder steps(view);
  IdleStory story;
  story.who = view.who;
  story.span_ns = SpanOfDevices(works);
  for (const Gap& gap : gaps) {
    story.idle_ns[static_cast<size_t>(gap.cause)] += gap.time.length();
    bool is_launching = gap.cause == Cause::kHost || gap.cause == Cause::kKernelWait;
    if (is_launching && gap.time.length() <= kLaunchGapNs)
      story.launch_gaps_ns += gap.time.length();
  }
  const auto& rows = part.tables.Get<ProfileIdleTable>();
  story.end_row = static_cast<int64_t>(rows.size());
  story.first_row = story.end_row;
  while (story.first_row > 0 &&
         rows.input[static_cast<size_t>(story.first_row) - 1] == view.who.input)
    --story.first_row;
  SetBusiest(view, gaps, story);
  story.waits = WaitsOf(view, gaps, steps);
  std::vector<int64_t> kernels = KernelTimes(works);
  story.kernels = static_cast<int64_t>(kernels.size());
  story.median_kernel_ns = Median(std::move(kernels));
  story.has_stacks = view.model.tables.Get<TimelineTable>().has_stacks[view.row] != 0;
  story.has_steps = !steps.empty();
  return story;
}

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
