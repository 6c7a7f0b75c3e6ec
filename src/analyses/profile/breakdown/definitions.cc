#include "analyses/profile/breakdown/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "model/timeline/graph_launches.h"
#include "model/timeline/launch_links.h"
#include "model/timeline/step_windows.h"
#include "tables/profile_breakdown.h"
#include "tables/timeline.h"

namespace debrief::analyses::profile_breakdown {

namespace {

using timeline::DeviceClass;
using timeline::DeviceWork;
using timeline::DeviceWorks;
using timeline::TimelineView;

double Percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100 * (static_cast<double>(part) / static_cast<double>(whole)) : kNoDouble;
}

ProfileBreakdownRow NewRow(const TimelineView& view, std::string_view definition,
                           std::string_view scope, Part& part) {
  auto row = Part::RowOf<ProfileBreakdownRow>(view.who);
  row.input = view.who.input;
  row.definition = part.pools.Intern(definition);
  row.scope = part.pools.Intern(scope);
  row.left_out_unlinked = row.left_out_negative = row.left_out_outside = 0;
  row.idle_known = 1;
  return row;
}

void SetWindow(Interval window, ProfileBreakdownRow& row) {
  row.window_start_ns = window.begin;
  row.window_end_ns = window.end;
  row.total_ns = window.length();
}

void SetPercents(ProfileBreakdownRow& row) {
  row.busy_pct = Percent(row.busy_ns, row.total_ns);
  row.idle_pct = Percent(row.idle_ns, row.total_ns);
  row.compute_pct = Percent(row.compute_ns, row.total_ns);
  row.other_pct = Percent(row.other_ns, row.total_ns);
}

void SetSplit(const timeline::ClassTimes& times, Interval window, ProfileBreakdownRow& row) {
  timeline::TimeSplit split = SplitTime(times, window);
  SetWindow(window, row);
  row.busy_ns = split.busy;
  row.idle_ns = split.idle;
  row.compute_ns = split.compute;
  row.exposed_communication_ns = split.exposed_communication;
  row.exposed_memcpy_ns = split.exposed_memory;
  row.communication_ns = split.communication;
  row.memcpy_ns = split.memory;
  row.overlap_ns = split.overlap;
  row.other_ns = 0;
  SetPercents(row);
}

// One timeline by our definition: what all its rows have in common.
class Debrief {
 public:
  Debrief(const TimelineView& view, const DeviceWorks& works, Part& part)
      : view_(view),
        works_(works),
        part_(part),
        unseen_(UnseenGraphLaunches(view, works.works)),
        devices_(works.Devices()),
        window_(SpanOf(works.works)),
        times_(ClassTimesOf(works.works)) {}

  void AddAll() {
    AddAllDevices();
    if (devices_.size() > 1) {
      for (int32_t device : devices_)
        AddGroup("device", Select([&](const DeviceWork& work) { return work.device == device; }));
    }
    AddStreams();
    AddSteps();
  }

 private:
  template <typename Wanted>
  std::vector<DeviceWork> Select(Wanted wanted) const {
    std::vector<DeviceWork> selected;
    std::copy_if(works_.works.begin(), works_.works.end(), std::back_inserter(selected), wanted);
    return selected;
  }

  void AddAllDevices() {
    auto row = NewRow(view_, "debrief", "all", part_);
    if (devices_.size() == 1) row.device = devices_.front();
    row.kernels = static_cast<int64_t>(works_.works.size());
    row.left_out_negative = works_.negative;
    Add(times_, window_, row);
  }

  void AddGroup(std::string_view scope, const std::vector<DeviceWork>& works) {
    auto row = NewRow(view_, "debrief", scope, part_);
    row.device = works.front().device;
    row.kernels = static_cast<int64_t>(works.size());
    Add(ClassTimesOf(works), SpanOf(works), row);
  }

  // Streams are compared over the time of the whole timeline.
  void AddStreams() {
    std::map<std::pair<int32_t, int64_t>, std::vector<DeviceWork>> streams;
    for (const DeviceWork& work : works_.works) streams[{work.device, work.stream}].push_back(work);
    for (const auto& [key, works] : streams) {
      auto row = NewRow(view_, "debrief", "stream", part_);
      row.device = key.first;
      row.stream = key.second;
      row.kernels = static_cast<int64_t>(works.size());
      Add(ClassTimesOf(works), window_, row);
    }
  }

  void AddSteps() {
    for (const timeline::StepWindow& window : StepWindowsOf(view_)) {
      auto row = NewRow(view_, "debrief", "step", part_);
      row.step = window.step;
      if (devices_.size() == 1) row.device = devices_.front();
      row.kernels = CountWithin(window.time);
      row.left_out_outside = static_cast<int64_t>(works_.works.size()) - row.kernels;
      Add(times_, window.time, row);
    }
  }

  // Those that begin in it.
  int64_t CountWithin(Interval window) const {
    auto begins_before = [](const DeviceWork& work, int64_t time) {
      return work.time.begin < time;
    };
    auto first =
        std::lower_bound(works_.works.begin(), works_.works.end(), window.begin, begins_before);
    return std::lower_bound(first, works_.works.end(), window.end, begins_before) - first;
  }

  void Add(const timeline::ClassTimes& times, Interval window, ProfileBreakdownRow& row) {
    SetSplit(times, window, row);
    auto first = std::lower_bound(unseen_.begin(), unseen_.end(), window.begin);
    auto count = std::lower_bound(first, unseen_.end(), window.end) - first;
    if (count > 0) {
      row.idle_known = 0;
      row.note = part_.pools.Intern(fmt::format(
          "{} graph launches whose kernels the timeline does not show; what they ran looks idle",
          count));
    }
    part_.tables.Edit<ProfileBreakdownTable>().Add(row);
  }

  const TimelineView& view_;
  const DeviceWorks& works_;
  Part& part_;
  std::vector<int64_t> unseen_;  // graph launches
  std::vector<int32_t> devices_;
  Interval window_;
  timeline::ClassTimes times_;
};

bool HasIgnoringCase(std::string_view name, std::string_view lower_case_word) {
  auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  };
  return std::search(name.begin(), name.end(), lower_case_word.begin(), lower_case_word.end(),
                     same) != name.end();
}

DeviceClass TraceLensClass(std::string_view name) {
  for (std::string_view word : {"rccl", "nccl", "cross_device_reduce"}) {
    if (HasIgnoringCase(name, word)) return DeviceClass::kCommunication;
  }
  if (name.starts_with("MEMORY_COPY_") || name.starts_with("__amd_rocclr_copyBuffer"))
    return DeviceClass::kMemcpy;
  return DeviceClass::kCompute;
}

}  // namespace

void AddDebrief(const TimelineView& view, const DeviceWorks& works, Part& part) {
  Debrief(view, works, part).AddAll();
}

DeviceClass TraceLensNames::Of(StringId name, bool is_copy) {
  if (is_copy) return DeviceClass::kMemcpy;
  DeviceClass& known = classes_[static_cast<size_t>(name)];
  if (known == DeviceClass::kNone) known = TraceLensClass(pools_.Text(name));
  return known;
}

void AddTraceLens(const TimelineView& view, const DeviceWorks& works, TraceLensNames& names,
                  Part& part) {
  timeline::LaunchLinks links = LaunchLinksOf(view);
  std::vector<DeviceWork> linked;
  for (DeviceWork work : works.works) {
    size_t at = TimelineView::At(work.slice);
    if (links.launch[at] == kNone32) continue;
    work.device_class = names.Of(view.name[at], view.kind[at] == view.kinds.memcpy);
    linked.push_back(work);
  }
  if (linked.empty()) return;
  auto row = NewRow(view, "tracelens", "all", part);
  if (works.Devices().size() == 1) row.device = works.works.front().device;
  row.kernels = static_cast<int64_t>(linked.size());
  row.left_out_unlinked = static_cast<int64_t>(works.works.size()) - row.kernels;
  row.left_out_negative = works.negative;
  SetSplit(ClassTimesOf(linked), SpanOf(linked), row);
  part.tables.Edit<ProfileBreakdownTable>().Add(row);
}

void AddHta(const TimelineView& view, timeline::HtaNames& names, Part& part) {
  timeline::HtaRows rows = HtaRowsOf(view, names);
  if (rows.rows.empty()) return;
  std::vector<Interval> all;
  for (const timeline::HtaRow& each : rows.rows) all.push_back(each.time);
  std::vector<Interval> busy = timeline::HtaMerge(std::move(all));
  constexpr int64_t kMicrosecond = 1000;
  int64_t base = view.model.tables.Get<TimelineTable>().base_ns[view.row];
  if (base == kNone64) base = 0;
  auto row = NewRow(view, "hta", "all", part);
  SetWindow({busy.front().begin * kMicrosecond + base, busy.back().end * kMicrosecond + base}, row);
  row.busy_ns = Length(busy) * kMicrosecond;
  row.idle_ns = row.total_ns - row.busy_ns;
  row.compute_ns = Length(HtaMerged(rows, timeline::HtaType::kComputation)) * kMicrosecond;
  row.other_ns = row.total_ns - row.compute_ns - row.idle_ns;
  row.kernels = static_cast<int64_t>(rows.rows.size());
  row.left_out_negative = rows.negative;
  row.left_out_outside = rows.left_out;
  SetPercents(row);
  for (double* percent : {&row.busy_pct, &row.idle_pct, &row.compute_pct, &row.other_pct})
    *percent = timeline::RoundedAsPandas(*percent, 2);
  part.tables.Edit<ProfileBreakdownTable>().Add(row);
}

}  // namespace debrief::analyses::profile_breakdown
