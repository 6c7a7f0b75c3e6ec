#include <algorithm>
#include <unordered_map>

#include "base/stats/intervals.h"
#include "model/timeline/launches.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "tables/profile_breakdown.h"
#include "tables/timeline_step.h"

namespace debrief::outputs::profile_diff {

namespace {

using timeline::DeviceClass;
using timeline::TimelineView;

constexpr std::string_view kNoOp = "(no op)";

bool IsSelected(const Selection& selection, int32_t input) {
  return selection.inputs.empty() || std::find(selection.inputs.begin(), selection.inputs.end(),
                                               input) != selection.inputs.end();
}

// Steps that the recording did not cut; all when it cut every one.
std::vector<int32_t> StepsToCompare(const Model& model, int32_t input) {
  const auto& steps = model.tables.Get<TimelineStepTable>();
  const timeline::RowRange rows = timeline::RowsOf(steps, input);
  std::vector<int32_t> whole, all;
  for (size_t row = rows.begin; row < rows.end; ++row) {
    all.push_back(steps.step[row]);
    if (steps.whole[row]) whole.push_back(steps.step[row]);
  }
  return whole.empty() ? all : whole;
}

// Rows of profile_breakdown that are the samples of one timeline, in order of time.
std::vector<size_t> SampleRows(const Model& model, int32_t input, Unit unit) {
  const auto& rows = model.tables.Get<ProfileBreakdownTable>();
  const StringId definition = model.pools.strings.Find("debrief");
  const StringId scope = model.pools.strings.Find(unit == Unit::kStep ? "step" : "all");
  const std::vector<int32_t> steps = StepsToCompare(model, input);
  const timeline::RowRange range = timeline::RowsOf(rows, input);
  std::vector<size_t> samples;
  for (size_t row = range.begin; row < range.end; ++row) {
    const bool is_sample =
        rows.definition[row] == definition && rows.scope[row] == scope && rows.total_ns[row] > 0;
    if (!is_sample) continue;
    if (unit == Unit::kStep && !std::binary_search(steps.begin(), steps.end(), rows.step[row]))
      continue;
    samples.push_back(row);
  }
  return samples;
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
  explicit SideBuilder(const Model& model) : model_(model), classes_(model) {}

  void Add(const TimelineView& view, const std::vector<size_t>& rows) {
    const auto& breakdown = model_.tables.Get<ProfileBreakdownTable>();
    const uint32_t first = side_.samples;
    std::vector<Interval> windows;
    for (size_t row : rows) {
      AddParts(row);
      windows.push_back({breakdown.window_start_ns[row], breakdown.window_end_ns[row]});
    }
    const std::vector<int32_t> op_of = timeline::LaunchLinksOf(view).op;
    for (const timeline::DeviceWork& work : timeline::DeviceWorksOf(view, classes_).works)
      AddWork(view, work, op_of[TimelineView::At(work.slice)], windows, first);
  }

  Side Take() {
    kernels_.MoveTo(model_.pools, side_.kernels);
    ops_.MoveTo(model_.pools, side_.ops);
    return std::move(side_);
  }

 private:
  void AddParts(size_t row) {
    const auto& rows = model_.tables.Get<ProfileBreakdownTable>();
    const int64_t times[kParts] = {rows.compute_ns[row], rows.exposed_communication_ns[row],
                                   rows.exposed_memcpy_ns[row], rows.idle_ns[row]};
    for (size_t part = 0; part < kParts; ++part)
      side_.parts[part].Add(side_.samples, times[part], 0);
    side_.total.Add(side_.samples, rows.total_ns[row], 0);
    ++side_.samples;
  }

  // To each window what runs in it; windows are sorted and do not overlap.
  void AddWork(const TimelineView& view, const timeline::DeviceWork& work, int32_t op,
               const std::vector<Interval>& windows, uint32_t first_sample) {
    auto window = std::partition_point(windows.begin(), windows.end(),
                                       [&](const Interval& w) { return w.end <= work.time.begin; });
    const TimePart part = PartOf(work.device_class);
    Amounts& kernel = kernels_.Of(part, view.name[TimelineView::At(work.slice)]);
    Amounts& of_op =
        ops_.Of(part, op == kNone32 ? StringId::kNone : view.name[TimelineView::At(op)]);
    for (; window != windows.end() && window->begin < work.time.end; ++window) {
      const int64_t time =
          std::min(window->end, work.time.end) - std::max(window->begin, work.time.begin);
      const int64_t begins_here = work.time.begin >= window->begin ? 1 : 0;
      const auto sample = first_sample + static_cast<uint32_t>(window - windows.begin());
      kernel.Add(sample, time, begins_here);
      of_op.Add(sample, time, begins_here);
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

bool HasSteps(const Selection& selection) {
  for (const TimelineView& view : timeline::Timelines(selection.model)) {
    if (IsSelected(selection, view.who.input) &&
        !SampleRows(selection.model, view.who.input, Unit::kStep).empty())
      return true;
  }
  return false;
}

Side SideOf(const Selection& selection, Unit unit) {
  SideBuilder builder(selection.model);
  for (const TimelineView& view : timeline::Timelines(selection.model)) {
    if (!IsSelected(selection, view.who.input)) continue;
    builder.Add(view, SampleRows(selection.model, view.who.input, unit));
  }
  return builder.Take();
}

}  // namespace debrief::outputs::profile_diff
