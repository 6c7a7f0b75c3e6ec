// What did the devices do with the time: compute, communicate, copy, nothing? By our definition and
// by those of the tools that people compare with (tables.def says how they differ).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/profile/breakdown/step_categories.h"
#include "base/text/strings.h"
#include "compat/hta/tables.h"
#include "model/model.h"
#include "model/timeline/device_time.h"
#include "model/timeline/launches.h"
#include "model/timeline/rank_shares.h"
#include "model/timeline/view.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_step_category.h"
#include "tables/timeline.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

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
  auto row = view.NewRow<ProfileBreakdownRow>();
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

// The whole timeline, its devices where there are several, its streams and its steps.
void AddDebrief(const TimelineView& view, const DeviceWorks& works, Part& part) {
  Debrief(view, works, part).AddAll();
}

// What TraceLens makes of the name of a kernel: kCompute, kCommunication or kMemcpy.
DeviceClass TraceLensClass(std::string_view name) {
  for (std::string_view word : {"rccl", "nccl", "cross_device_reduce"}) {
    if (HasIgnoringCase(name, word)) return DeviceClass::kCommunication;
  }
  if (name.starts_with("MEMORY_COPY_") || name.starts_with("__amd_rocclr_copyBuffer"))
    return DeviceClass::kMemcpy;
  return DeviceClass::kCompute;
}

using TraceLensNames = timeline::OfName<DeviceClass>;

void AddTraceLens(const TimelineView& view, const DeviceWorks& works, TraceLensNames& names,
                  Part& part) {
  timeline::LaunchLinks links = LaunchLinksOf(view);
  std::vector<DeviceWork> linked;
  for (DeviceWork work : works.works) {
    size_t at = TimelineView::At(work.slice);
    if (links.launch[at] == kNone32) continue;
    work.device_class =
        view.kind[at] == view.kinds.memcpy ? DeviceClass::kMemcpy : names(view.name[at]);
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

// A tenth is where TensorBoard's plug-in begins to recommend; a quarter is more than most other
// changes to a model can win back.
constexpr double kNoticeable = 0.10;
constexpr double kLarge = 0.25;

std::vector<timeline::RankShare> ExposedShares(const Part& part) {
  const auto& rows = part.tables.Get<ProfileBreakdownTable>();
  StringId debrief = part.pools.strings.Find("debrief"), all = part.pools.strings.Find("all");
  std::vector<timeline::RankShare> shares;
  for (size_t row = 0; row < rows.size(); ++row) {
    if (rows.definition[row] != debrief || rows.scope[row] != all) continue;
    shares.push_back({.who = {rows.input[row], rows.job[row], rows.attempt[row], rows.rank[row]},
                      .part_ns = rows.exposed_communication_ns[row],
                      .whole_ns = rows.total_ns[row],
                      .row = static_cast<int64_t>(row)});
  }
  return shares;
}

Finding FindingOf(const timeline::JobShares& job, const Part& part) {
  const auto& rows = part.tables.Get<ProfileBreakdownTable>();
  auto worst = static_cast<size_t>(job.worst().row);
  Finding finding;
  finding.rule = "profile.exposed_communication";
  finding.severity = job.SeverityFrom(kLarge);
  finding.job = job.worst().who.job;
  finding.attempt = job.worst().who.attempt;
  finding.ranks = job.RanksToBlame(kNoticeable);
  finding.headline = fmt::format("Exposed communication takes {}", job.InWords());
  const int64_t communication = rows.communication_ns[worst];
  double hidden = communication > 0 ? Percent(rows.overlap_ns[worst], communication) : 0;
  finding.evidence.push_back(
      {.text =
           fmt::format("{:.0f} % of the communication overlaps with computation; exposed is the "
                       "time in which a communication kernel runs and no other kernel computes",
                       hidden),
       .table = "profile_breakdown",
       .rows = {job.worst().row}});
  if (std::string all = job.OverallInWords(); !all.empty())
    finding.evidence.push_back({.text = std::move(all), .table = {}, .rows = {}});
  finding.confidence = 0.9;
  finding.why = "measured; a communication kernel that waits for a late rank counts as well";
  finding.next_step =
      "See which collectives wait for others and which move much; then overlap them with "
      "computation (bucket sizes, prefetch of FSDP) or send less.";
  return finding;
}

// Of the rows of profile_breakdown in `part`: one finding for a job.
void AddFindings(const Part& part, std::vector<Finding>& findings) {
  for (const timeline::JobShares& job : SharesByJob(ExposedShares(part))) {
    if (job.worst().fraction() >= kNoticeable) findings.push_back(FindingOf(job, part));
  }
}

// HTA and TraceLens read traces in JSON alone: of databases and recordings they say nothing.
bool IsReadByOthers(const TimelineView& view) {
  const auto& timelines = view.model.tables.Get<TimelineTable>();
  return IsOneOf(view.model.pools.Text(timelines.producer[view.row]), {"kineto", "chrome", "flex"});
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) {
    timeline::DeviceClasses classes(model);
    hta::Names hta_names(model);
    TraceLensNames trace_lens_names(model.pools, TraceLensClass);
    timeline::DeviceWorks works = DeviceWorksOf(view, classes);
    if (!works.works.empty()) {
      AddDebrief(view, works, part);
      if (IsReadByOthers(view)) AddTraceLens(view, works, trace_lens_names, part);
    }
    if (IsReadByOthers(view)) hta::AddBreakdown(view, hta_names, part);
    AddStepCategories(view, works, part);
  });
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "profile_breakdown",
               .sentence = "What do the devices do with the time: compute, communicate, copy, "
                           "nothing?",
               .example = "Exposed communication takes 31 % of the device time (412 ms of 1.3 s on "
                          "rank 3)",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<ProfileBreakdownTable, ProfileStepCategoryTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineLaunchTable, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_breakdown
