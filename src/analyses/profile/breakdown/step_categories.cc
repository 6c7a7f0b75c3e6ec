#include "analyses/profile/breakdown/step_categories.h"

#include <array>

#include "model/timeline/device_time.h"
#include "tables/profile_step_category.h"
#include "tables/timeline.h"

namespace debrief::analyses::profile_breakdown {

namespace {

using timeline::DeviceClass;
using timeline::StepWindow;
using timeline::TimelineView;

enum Category : size_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoader,
  kCpuExec,
  kOther,
  kCategories
};

constexpr std::array<std::string_view, kCategories> kNames = {
    "kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"};

// A last step with less work than this share of the one before it was cut by the end of the
// recording; the plug-in leaves it out.
constexpr double kWholeShare = 0.8;

Category CategoryOf(DeviceClass device_class) {
  switch (device_class) {
    case DeviceClass::kMemcpy:
      return kMemcpy;
    case DeviceClass::kMemset:
      return kMemset;
    case DeviceClass::kCommunication:
      return kCommunication;
    default:
      return kKernel;
  }
}

std::vector<StepWindow> WindowsOf(const TimelineView& view) {
  std::vector<StepWindow> windows = StepWindowsOf(view);
  const auto& timelines = view.model.tables.Get<TimelineTable>();
  Interval all{timelines.start_ns[view.row], timelines.end_ns[view.row]};
  if (windows.empty() && all.begin != kNone64) windows.push_back({.time = all});
  if (windows.size() > 1) {
    auto before = static_cast<double>(windows[windows.size() - 2].launches);
    if (static_cast<double>(windows.back().launches) < kWholeShare * before) windows.pop_back();
  }
  return windows;
}

using Times = std::array<IntervalSet, kOther>;

void AddStep(const TimelineView& view, const StepWindow& window, const Times& times, Part& part) {
  auto row = view.NewRow<ProfileStepCategoryRow>();
  row.step = window.step;
  row.window_start_ns = window.time.begin;
  row.window_end_ns = window.time.end;
  IntervalSet left;
  AppendToUnion(left, window.time);
  for (size_t category = 0; category < kCategories; ++category) {
    IntervalSet rest;
    if (category != kOther) rest = Subtract(left, Clip(times[category], window.time));
    row.category = part.pools.Intern(kNames[category]);
    row.priority = static_cast<int32_t>(category);
    row.time_ns = Length(left) - Length(rest);
    if (window.time.length() > 0)
      row.share_pct =
          100 * (static_cast<double>(row.time_ns) / static_cast<double>(window.time.length()));
    part.tables.Edit<ProfileStepCategoryTable>().Add(row);
    left = std::move(rest);
  }
}

bool IsDataLoader(std::string_view name) { return name.starts_with("enumerate(DataLoader)"); }

// Of all threads. Slices of a thread are sorted, so that each thread gives few intervals.
IntervalSet HostTimes(const TimelineView& view, size_t category,
                      timeline::OfName<bool>& is_data_loader) {
  std::vector<Interval> all;
  IntervalSet of_track;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    StringId kind = view.kind[at];
    bool loads =
        (kind == view.kinds.annotation || kind == view.kinds.op) && is_data_loader(view.name[at]);
    bool wanted = category == kRuntime      ? kind == view.kinds.runtime
                  : category == kDataLoader ? loads
                                            : kind == view.kinds.op && !loads;
    if (slice > 0 && view.track[at] != view.track[at - 1]) {
      all.insert(all.end(), of_track.begin(), of_track.end());
      of_track.clear();
    }
    if (wanted) AppendToUnion(of_track, {view.start[at], view.end(slice)});
  }
  all.insert(all.end(), of_track.begin(), of_track.end());
  return Union(std::move(all));
}

}  // namespace

void AddStepCategories(const TimelineView& view, const timeline::DeviceWorks& works, Part& part) {
  std::vector<StepWindow> windows = WindowsOf(view);
  if (windows.empty()) return;
  Times times;
  for (const timeline::DeviceWork& work : works.works)
    AppendToUnion(times[CategoryOf(work.device_class)], work.time);
  timeline::OfName<bool> is_data_loader(view.model.pools, IsDataLoader);
  for (size_t category = kRuntime; category < kOther; ++category)
    times[category] = HostTimes(view, category, is_data_loader);
  for (const StepWindow& window : windows) AddStep(view, window, times, part);
}

}  // namespace debrief::analyses::profile_breakdown
