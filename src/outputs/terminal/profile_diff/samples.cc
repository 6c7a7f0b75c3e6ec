#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/stats/intervals.h"
#include "model/timeline/launches.h"
#include "model/timeline/typical_steps.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "tables/profile_breakdown.h"

namespace debrief::outputs::profile_diff {

namespace {

using timeline::DeviceClass;
using timeline::TimelineView;

constexpr std::string_view kNoOp = "(no op)";

bool IsSelected(const Selection& selection, int32_t input) {
  return selection.inputs.empty() || std::find(selection.inputs.begin(), selection.inputs.end(),
                                               input) != selection.inputs.end();
}

// Rows of profile_breakdown about one timeline by our definition: as a whole, or step by step.
std::vector<size_t> BreakdownRows(const Model& model, int32_t input, std::string_view scope) {
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  const StringId definition = model.pools.strings.Find("debrief");
  const StringId wanted = model.pools.strings.Find(scope);
  const timeline::RowRange range = timeline::RowsOf(rows, input);
  std::vector<size_t> found;
  for (size_t row = range.begin; row < range.end; ++row) {
    if (rows.definition[row] == definition && rows.scope[row] == wanted && rows.total_ns[row] > 0)
      found.push_back(row);
  }
  return found;
}

// One piece of time that counts.
struct SampleWindow {
  uint32_t sample = 0;
  Interval time;
  size_t row = SIZE_MAX;  // of profile_breakdown; SIZE_MAX: nothing ran on a device
};

using WindowsOfInputs = std::map<int32_t, std::vector<SampleWindow>>;

// Every rank has each typical step once: of one that it recorded twice the first counts.
WindowsOfInputs TypicalWindows(const Selection& selection, Side& side) {
  std::map<int32_t, std::vector<timeline::ComparedStep>> steps;
  timeline::StepLengths lengths;
  for (const TimelineView& view : timeline::Timelines(selection.model)) {
    if (!IsSelected(selection, view.who.input)) continue;
    for (const timeline::ComparedStep& step : timeline::ComparedStepsOf(view)) {
      if (lengths[view.who.rank].try_emplace(step.key, step.time.length()).second)
        steps[view.who.input].push_back(step);
    }
  }
  std::erase_if(lengths, [](const auto& rank) { return rank.second.empty(); });
  const timeline::TypicalSteps typical = timeline::FindTypicalSteps(lengths);
  side.samples = static_cast<uint32_t>(typical.keys.size());
  side.ranks = static_cast<uint32_t>(std::max<size_t>(1, lengths.size()));
  side.left_out = typical.left_out;
  WindowsOfInputs windows;
  const auto& rows = selection.model.tables.Get<ProfileBreakdownTable>();
  for (const auto& [input, all] : steps) {
    std::map<int32_t, size_t> row_of;
    for (size_t row : BreakdownRows(selection.model, input, "step")) row_of[rows.step[row]] = row;
    for (const timeline::ComparedStep& step : all) {
      const size_t at = typical.At(step.key);
      if (at == typical.keys.size()) continue;
      auto row = row_of.find(step.step);
      windows[input].push_back({.sample = static_cast<uint32_t>(at),
                                .time = step.time,
                                .row = row == row_of.end() ? SIZE_MAX : row->second});
    }
  }
  return windows;
}

WindowsOfInputs WholeTimelines(const Selection& selection, Side& side) {
  const auto& rows = selection.model.tables.Get<ProfileBreakdownTable>();
  WindowsOfInputs windows;
  for (const TimelineView& view : timeline::Timelines(selection.model)) {
    if (!IsSelected(selection, view.who.input)) continue;
    for (size_t row : BreakdownRows(selection.model, view.who.input, "all")) {
      windows[view.who.input].push_back(
          {.sample = side.samples++,
           .time = {rows.window_start_ns[row], rows.window_end_ns[row]},
           .row = row});
    }
  }
  return windows;
}

TimePart PartOf(DeviceClass device_class) {
  if (device_class == DeviceClass::kCompute) return TimePart::kCompute;
  return device_class == DeviceClass::kCommunication ? TimePart::kExposedCommunication
                                                     : TimePart::kExposedMemcpy;
}

// Adds up by name while names are still numbers.
class NameSums {
 public:
  Amounts& Of(TimePart part, StringId name) {
    return sums_[static_cast<uint64_t>(name) * kParts + static_cast<uint64_t>(part)];
  }

  void MoveTo(const Pools& pools, NamedAmounts& named) {
    for (auto& [key, amounts] : sums_) {
      const auto name = static_cast<StringId>(key / kParts);
      const std::string_view text = name == StringId::kNone ? kNoOp : pools.Text(name);
      named[{static_cast<TimePart>(key % kParts), text}] = std::move(amounts);
    }
  }

 private:
  std::unordered_map<uint64_t, Amounts> sums_;
};

class SideBuilder {
 public:
  SideBuilder(const Model& model, Side side)
      : model_(model), classes_(model), side_(std::move(side)) {}

  // Windows are sorted and do not overlap.
  void Add(const TimelineView& view, const std::vector<SampleWindow>& windows) {
    for (const SampleWindow& window : windows) AddParts(window);
    const std::vector<int32_t> op_of = timeline::LaunchLinksOf(view).op;
    for (const timeline::DeviceWork& work : timeline::DeviceWorksOf(view, classes_).works)
      AddWork(view, work, op_of[TimelineView::At(work.slice)], windows);
  }

  Side Take() {
    kernels_.MoveTo(model_.pools, side_.kernels);
    ops_.MoveTo(model_.pools, side_.ops);
    return std::move(side_);
  }

 private:
  void AddParts(const SampleWindow& window) {
    const auto& rows = model_.tables.Get<ProfileBreakdownTable>();
    std::array<int64_t, kParts> times = {0, 0, 0, window.time.length()};
    if (const size_t row = window.row; row != SIZE_MAX) {
      times = {rows.compute_ns[row], rows.exposed_communication_ns[row],
               rows.exposed_memcpy_ns[row], rows.idle_ns[row]};
    }
    for (size_t part = 0; part < kParts; ++part)
      side_.parts[part].Add(window.sample, times[part], 0);
    side_.total.Add(window.sample, window.time.length(), 0);
  }

  // To each window what runs in it.
  void AddWork(const TimelineView& view, const timeline::DeviceWork& work, int32_t op,
               const std::vector<SampleWindow>& windows) {
    auto window = std::ranges::partition_point(
        windows, [&](const SampleWindow& w) { return w.time.end <= work.time.begin; });
    if (window == windows.end() || window->time.begin >= work.time.end) return;
    const TimePart part = PartOf(work.device_class);
    Amounts& kernel = kernels_.Of(part, view.name[TimelineView::At(work.slice)]);
    Amounts& of_op =
        ops_.Of(part, op == kNone32 ? StringId::kNone : view.name[TimelineView::At(op)]);
    for (; window != windows.end() && window->time.begin < work.time.end; ++window) {
      const int64_t time =
          std::min(window->time.end, work.time.end) - std::max(window->time.begin, work.time.begin);
      const int64_t begins_here = work.time.begin >= window->time.begin ? 1 : 0;
      kernel.Add(window->sample, time, begins_here);
      of_op.Add(window->sample, time, begins_here);
    }
  }

  const Model& model_;
  timeline::DeviceClasses classes_;
  Side side_;
  NameSums kernels_, ops_;
};

}  // namespace

std::string_view PartName(TimePart part) {
  static constexpr std::string_view kNames[kParts] = {"compute", "exposed_communication",
                                                      "exposed_memcpy", "idle"};
  return kNames[static_cast<size_t>(part)];
}

void Amounts::Add(uint32_t sample, int64_t time, int64_t how_many) {
  total_ns += time;
  count += how_many;
  if (by_sample.empty() || by_sample.back().first != sample) by_sample.push_back({sample, 0});
  by_sample.back().second += time;
}

Side SideOf(const Selection& selection, Unit unit) {
  Side side;
  const WindowsOfInputs windows =
      unit == Unit::kStep ? TypicalWindows(selection, side) : WholeTimelines(selection, side);
  SideBuilder builder(selection.model, std::move(side));
  for (const TimelineView& view : timeline::Timelines(selection.model)) {
    if (auto found = windows.find(view.who.input); found != windows.end())
      builder.Add(view, found->second);
  }
  return builder.Take();
}

}  // namespace debrief::outputs::profile_diff
