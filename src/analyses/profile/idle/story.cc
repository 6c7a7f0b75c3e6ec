#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/profile/idle/findings.h"
#include "base/stats/statistics.h"
#include "tables/profile_idle.h"
#include "tables/timeline.h"

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

}  // namespace

std::pair<StringId, int64_t> Busiest(const std::unordered_map<StringId, int64_t>& times) {
  std::pair<StringId, int64_t> busiest{StringId::kNone, 0};
  for (const auto& [name, time] : times) {
    if (time > busiest.second || (time == busiest.second && name < busiest.first))
      busiest = {name, time};
  }
  return busiest;
}

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

}  // namespace debrief::analyses::profile_idle
