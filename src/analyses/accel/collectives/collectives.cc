// Which collective costs most?
//
// Cost: one pass over the collectives, and one over the slices for the time of the devices.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyses/analysis.h"
#include "base/text/units.h"
#include "model/timeline/device_time.h"
#include "model/timeline/rank_shares.h"
#include "model/timeline/view.h"
#include "tables/accel_collective.h"
#include "tables/profile_collective.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_collectives {

namespace {

using timeline::TimelineView;

// A fifth of the time of all devices in one kind of collective is worth a name.
constexpr double kCostly = 0.20;

using JobKey = std::pair<int32_t, int32_t>;  // job, attempt
using Key = std::tuple<int32_t, int32_t, StringId, StringId, StringId, int64_t>;

struct Cost {
  int64_t count = 0, total_ns = 0, max_ns = 0;
  std::set<int32_t> ranks;
  int64_t row = 0;
};

// Of each job, the time from the first work to the last, summed over devices.
std::map<JobKey, int64_t> DeviceTimes(const Model& model) {
  timeline::DeviceClasses classes(model);
  std::map<JobKey, int64_t> times;
  for (const TimelineView& view : timeline::Timelines(model)) {
    std::map<int32_t, Interval> spans;
    for (const timeline::DeviceWork& work : DeviceWorksOf(view, classes).works) {
      auto [span, is_new] = spans.try_emplace(work.device, work.time);
      span->second.end = std::max(span->second.end, work.time.end);
    }
    for (const auto& [device, span] : spans)
      times[{view.who.job, view.who.attempt}] += span.length();
  }
  return times;
}

std::map<Key, Cost> CostsOf(const ProfileCollectiveTable& table) {
  std::map<Key, Cost> costs;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!table.on_device[row]) continue;
    Cost& cost = costs[{table.job[row], table.attempt[row], table.op[row], table.group_name[row],
                        table.group_desc[row], table.bytes[row]}];
    ++cost.count;
    cost.total_ns += table.duration_ns[row];
    cost.max_ns = std::max(cost.max_ns, table.duration_ns[row]);
    cost.ranks.insert(table.rank[row]);
  }
  return costs;
}

class Writer {
 public:
  Writer(const Model& model, AnalysisResult& result)
      : model_(model), result_(result), times_(DeviceTimes(model)) {}

  void Write(const Key& key, Cost& cost) {
    const auto& [job, attempt, op, group, desc, bytes] = key;
    AccelCollectiveRow row;
    row.job = job;
    row.attempt = attempt;
    row.op = timeline::Copied(model_, op, result_.part);
    row.group_name = timeline::Copied(model_, group, result_.part);
    row.group_desc = timeline::Copied(model_, desc, result_.part);
    row.bytes = bytes;
    row.count = cost.count;
    row.ranks = static_cast<int64_t>(cost.ranks.size());
    row.total_ns = cost.total_ns;
    row.mean_ns = static_cast<double>(cost.total_ns) / static_cast<double>(cost.count);
    row.max_ns = cost.max_ns;
    row.share_pct = 100 * ShareOf(key, cost);
    auto& table = result_.part.tables.Edit<AccelCollectiveTable>();
    cost.row = static_cast<int64_t>(table.size());
    table.Add(row);
  }

  void AddFinding(const Key& key, const Cost& cost) {
    const auto& [job, attempt, op, group, desc, bytes] = key;
    bool is_short = times_[{job, attempt}] < timeline::kShortestToTellNs;
    if (is_short || ShareOf(key, cost) < kCostly) return;
    Finding finding;
    finding.rule = "accel.costliest_collective";
    finding.job = job;
    finding.attempt = attempt;
    finding.op = model_.pools.Text(op);
    std::string_view name = model_.pools.Text(desc == StringId::kNone ? group : desc);
    std::string size =
        bytes == kNone64 ? "" : fmt::format(" of {}", BytesText(static_cast<double>(bytes)));
    finding.headline = fmt::format(
        "{}{} takes {:.0f} % of the time, the most of all communication ({} of {}, {})", finding.op,
        name.empty() ? "" : fmt::format(" in group {}", name), 100 * ShareOf(key, cost),
        DurationText(cost.total_ns), DurationText(times_[{job, attempt}]),
        Plural(static_cast<size_t>(cost.count), "call"));
    finding.evidence.push_back(
        {.text = fmt::format("the longest of {}{} on {} takes {}",
                             Plural(static_cast<size_t>(cost.count), "call"), size,
                             Plural(cost.ranks.size(), "rank"), DurationText(cost.max_ns)),
         .table = "accel_collective",
         .rows = {cost.row}});
    finding.why = "time in its kernels, which includes waiting for ranks that arrive later";
    finding.next_step =
        "See whether it waits or moves data: debrief profile comms shows arrival skew and "
        "bandwidth.";
    result_.findings.push_back(std::move(finding));
  }

 private:
  double ShareOf(const Key& key, const Cost& cost) {
    int64_t whole = times_[{std::get<0>(key), std::get<1>(key)}];
    return whole > 0 ? static_cast<double>(cost.total_ns) / static_cast<double>(whole) : 0;
  }

  const Model& model_;
  AnalysisResult& result_;
  std::map<JobKey, int64_t> times_;
};

Status Run(const Model& model, AnalysisResult& result) {
  std::map<Key, Cost> costs = CostsOf(model.tables.Get<ProfileCollectiveTable>());
  Writer writer(model, result);
  std::map<JobKey, const std::pair<const Key, Cost>*> costliest;
  for (auto& each : costs) {
    writer.Write(each.first, each.second);
    auto& worst = costliest[{std::get<0>(each.first), std::get<1>(each.first)}];
    if (worst == nullptr || each.second.total_ns > worst->second.total_ns) worst = &each;
  }
  for (const auto& [job, each] : costliest) writer.AddFinding(each->first, each->second);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_collectives",
               .sentence = "Which collective costs most?",
               .example = "all_reduce of 524288 bytes in group mesh_dp costs more than any other "
                          "collective: 31 % of the device time (1.30 s in 96 calls over 8 ranks)",
               .needs = kTableNames<ProfileCollectiveTable, TimelineSliceTable>,
               .makes = kTableNames<AccelCollectiveTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_collectives
