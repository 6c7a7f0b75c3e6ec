// Do devices that work together have the same to do?
//
// Compared are AIUs of one job, and the devices that one timeline shows; ranks of other jobs are
// compared by profile_ranks, which also sees who waits for whom. Cost: sorts the work.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyses/accel/devices.h"
#include "analyses/analysis.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"
#include "model/timeline/device_time.h"
#include "model/timeline/rank_shares.h"
#include "model/timeline/view.h"
#include "tables/accel_balance.h"
#include "tables/accel_rate.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_balance {

namespace {

using timeline::DeviceWork;
using timeline::TimelineView;

// A tenth is more than one device differs from the next of its kind; a quarter of the computing
// power of all others is lost in waiting.
constexpr double kUneven = 0.10;
constexpr double kVeryUneven = 0.25;
// Of the whole time: what is less does not matter, however uneven it is.
constexpr double kMatters = 0.05;

struct Load : AccelBalanceRow {
  double excess = kNoDouble;
  int64_t number = 0;  // of the row
};

// Devices that are compared with each other: by job, attempt, and the input unless they are AIUs.
using Team = std::tuple<int32_t, int32_t, int32_t>;
using Teams = std::map<Team, std::map<int32_t, Load>>;  // by device

Load NewLoad(const TimelineView& view, int32_t device, size_t stamped) {
  auto load = Part::RowOf<Load>(accel::OwnerOf(view, device, stamped));
  load.device = device;
  load.timelines = load.span_ns = load.idle_ns = 0;
  load.compute_ns = load.communication_ns = load.memory_ns = 0;
  return load;
}

void AddWork(std::span<const DeviceWork> works, Load& load) {
  timeline::TimeSplit split = SplitTime(ClassTimesOf(works), SpanOf(works));
  ++load.timelines;
  load.span_ns += split.total;
  load.compute_ns += split.compute;
  load.communication_ns += split.communication;
  load.memory_ns += split.memory;
  load.idle_ns += split.idle;
}

void AddTimeline(const TimelineView& view, const timeline::DeviceClasses& classes, Teams& teams) {
  timeline::DeviceWorks all = DeviceWorksOf(view, classes);
  std::map<int32_t, std::vector<DeviceWork>> by_device;
  for (const DeviceWork& work : all.works) by_device[work.device].push_back(work);
  size_t stamped = accel::StampedDevices(view);
  if (stamped == 0 && by_device.size() < 2) return;
  Team team = {view.who.job, view.who.attempt, stamped > 0 ? kNone32 : view.who.input};
  for (const auto& [device, works] : by_device) {
    auto [load, is_new] = teams[team].try_emplace(device, NewLoad(view, device, stamped));
    if (!is_new) load->second.input = kNone32;  // of several files
    AddWork(works, load->second);
  }
}

void Compare(std::map<int32_t, Load>& team) {
  for (auto& [device, load] : team) {
    std::vector<int64_t> others;
    for (const auto& [other, other_load] : team) {
      if (other != device) others.push_back(other_load.compute_ns);
    }
    int64_t usual = Median(std::move(others));
    if (team.size() > 1 && usual > 0)
      load.excess = static_cast<double>(load.compute_ns) / static_cast<double>(usual) - 1;
  }
}

void AddRow(Load& load, Part& part) {
  auto& table = part.tables.Edit<AccelBalanceTable>();
  load.number = static_cast<int64_t>(table.size());
  load.excess_pct = 100 * load.excess;
  table.Add(load);
}

bool IsUneven(const Load& load) {
  double excess_ns = static_cast<double>(load.compute_ns) * load.excess / (1 + load.excess);
  return load.excess >= kUneven && excess_ns >= kMatters * static_cast<double>(load.span_ns);
}

void AddFinding(const std::map<int32_t, Load>& team, std::vector<Finding>& findings) {
  const Load* worst = nullptr;
  Evidence evidence{.text = "compute_ns of each device and what it has more than the others",
                    .table = "accel_balance"};
  for (const auto& [device, load] : team) {
    evidence.rows.push_back(load.number);
    bool is_worse = worst == nullptr || load.excess > worst->excess;
    if (IsUneven(load) && is_worse) worst = &load;
  }
  if (worst == nullptr) return;
  Finding finding;
  finding.rule = "accel.unbalanced_ranks";
  // What is shorter may be start-up: worth telling, no reason to warn.
  bool is_long = worst->span_ns >= timeline::kShortestToTellNs;
  finding.severity = is_long && worst->excess >= kVeryUneven ? Severity::kWarning : Severity::kInfo;
  finding.job = worst->job;
  finding.attempt = worst->attempt;
  if (worst->rank != kNone32) finding.ranks = {worst->rank};
  bool is_rank = worst->rank == worst->device;
  finding.headline = fmt::format("{} {} computes {:.0f} % longer than the other {}: {} of {}",
                                 is_rank ? "Rank" : "Device", worst->device, 100 * worst->excess,
                                 is_rank ? "ranks" : "devices", DurationText(worst->compute_ns),
                                 DurationText(worst->span_ns));
  finding.evidence.push_back(std::move(evidence));
  finding.confidence = 0.7;
  finding.why = "measured; the work may be uneven, or the device slower than the others";
  finding.next_step =
      "Compare its kernels with those of another: debrief query OUT \"SELECT device, category, "
      "time_ns FROM accel_category ORDER BY category, device\"";
  findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  timeline::DeviceClasses classes(model);
  Teams teams;
  for (const TimelineView& view : timeline::Timelines(model)) AddTimeline(view, classes, teams);
  for (auto& [key, team] : teams) {
    Compare(team);
    for (auto& [device, load] : team) AddRow(load, result.part);
    AddFinding(team, result.findings);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_balance",
               .sentence = "Do devices that work together have the same to do?",
               .example = "Rank 2 computes 31 % longer than the other ranks: 412 ms of 1.30 s",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelBalanceTable>,
               .uses = kTableNames<timeline::ViewTables, AccelRateTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_balance
