#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "analyses/profile/comms/samples.h"
#include "base/stats/statistics.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::profile_comms {

namespace {

constexpr int64_t kSmallestBytes = int64_t{1} << 20;
constexpr size_t kFewestSamples = 5;
constexpr size_t kFewestGroups = 3;  // of two, which is slow and which is fast?
constexpr double kClear = 1.5;
constexpr double kBad = 2;

// What groups have to share to be compared.
using Peers = std::tuple<int32_t, int32_t, StringId, int32_t, StringId, int64_t>;

struct Speed {
  const Kind* kind;
  int64_t fast_ns, median_ns, slow_ns;  // quartiles
};

Finding Describe(const Model& model, const Speed& slow, int64_t median_ns, size_t groups,
                 int64_t row) {
  const Kind& kind = *slow.kind;
  GroupRef group{.name = std::string(model.pools.Text(kind.group_name)),
                 .desc = std::string(model.pools.Text(kind.group_desc)),
                 .ranks = {}};
  for (int64_t rank : model.pools.lists.Get(kind.members))
    group.ranks.push_back(static_cast<int32_t>(rank));
  double times = static_cast<double>(slow.median_ns) / static_cast<double>(median_ns);
  Finding finding;
  finding.rule = "profile.low_bandwidth_group";
  finding.severity = times >= kBad ? Severity::kWarning : Severity::kInfo;
  finding.role = Role::kObservation;
  finding.job = kind.job;
  finding.attempt = kind.attempt;
  finding.ranks = group.ranks;
  finding.op = std::string(model.pools.Text(kind.op));
  finding.headline = fmt::format(
      "{} of {} [{}] takes {:.1f} x as long as in the {} other groups of its kind", finding.op,
      group.desc.empty() ? group.name : group.desc, FoldNumbers(group.ranks), times, groups - 1);
  finding.evidence.push_back(
      {.text = fmt::format("{} for {}; the median of the other groups is {}",
                           DurationText(slow.median_ns), BytesText(static_cast<double>(kind.bytes)),
                           DurationText(median_ns)),
       .table = "profile_bandwidth",
       .rows = {row}});
  finding.confidence = 0.8;
  finding.why = "its faster quarter takes longer than the slower quarter of every other group";
  finding.next_step = "Look at how these ranks are connected: another host, switch or NUMA node?";
  finding.groups.push_back(std::move(group));
  return finding;
}

}  // namespace

std::vector<Finding> FindSlowGroups(const Model& model, const Samples& samples,
                                    const std::map<Kind, int64_t>& rows) {
  std::map<Peers, std::vector<Speed>> peers;
  for (const auto& [kind, found] : samples) {
    const std::vector<int64_t>& durations = found.transfer_ns;
    if (!kind.matched || kind.bytes < kSmallestBytes || durations.size() < kFewestSamples) continue;
    peers[{kind.job, kind.attempt, kind.group_desc, kind.group_size, kind.op, kind.bytes}]
        .push_back(
            {&kind, Quantile(durations, 0.25), Median(durations), Quantile(durations, 0.75)});
  }
  std::vector<Finding> findings;
  for (auto& [key, speeds] : peers) {
    if (speeds.size() < kFewestGroups) continue;
    auto slow = std::max_element(speeds.begin(), speeds.end(), [](const Speed& a, const Speed& b) {
      return a.median_ns < b.median_ns;
    });
    std::vector<int64_t> others;
    int64_t slowest = 0;
    for (const Speed& each : speeds) {
      if (&each == &*slow) continue;
      others.push_back(each.median_ns);
      slowest = std::max(slowest, each.slow_ns);
    }
    if (slowest <= 0 || static_cast<double>(slow->fast_ns) < kClear * static_cast<double>(slowest))
      continue;
    findings.push_back(Describe(model, *slow, std::max<int64_t>(1, Median(std::move(others))),
                                speeds.size(), rows.at(*slow->kind)));
  }
  return findings;
}

}  // namespace debrief::analyses::profile_comms
