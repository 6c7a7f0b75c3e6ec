// How fast do the groups communicate, and who waits for whom?
//
// Bandwidth by the convention of nccl-tests: algbw is message size by time, busbw what that means
// for the links (samples.h), beside what these can carry (wires.h). Times are those of kernels; ops
// of a host only hand work over.
#include <map>

#include "analyses/analysis.h"
#include "analyses/profile/comms/samples.h"
#include "analyses/profile/comms/wires.h"
#include "base/stats/noise.h"
#include "base/stats/statistics.h"
#include "model/timeline/view.h"
#include "tables/nccl_link.h"
#include "tables/profile_arrival.h"
#include "tables/profile_bandwidth.h"
#include "tables/profile_collective.h"
#include "tables/profile_collective_match.h"
#include "tables/profile_collective_wait.h"
#include "tables/roofline_peak.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"

namespace debrief::analyses::profile_comms {

namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;

// Bytes and nanoseconds make 1e9 bytes a second.
double MedianBandwidth(int64_t bytes, int64_t median_ns) {
  return median_ns > 0 ? static_cast<double>(bytes) / static_cast<double>(median_ns) : kNoDouble;
}

double MeanOfBandwidths(int64_t bytes, const std::vector<int64_t>& durations) {
  double sum = 0;
  for (int64_t duration : durations) {
    if (duration <= 0) return kNoDouble;
    sum += static_cast<double>(bytes) * 1e9 / kGibi / static_cast<double>(duration);
  }
  return sum / static_cast<double>(durations.size());
}

void SetWire(const Wire& wire, ProfileBandwidthRow& row, Part& part) {
  if (!wire.transport.empty()) row.transport = part.pools.Intern(wire.transport);
  if (wire.gbps <= 0) return;
  row.link_gbps = wire.gbps;
  row.link_from = part.pools.Intern(wire.from);
}

void AddBandwidth(const Model& model, const Kind& kind, const Durations& found, const Wire& wire,
                  Part& part) {
  const std::vector<int64_t>& durations = found.transfer_ns;
  ProfileBandwidthRow row;
  row.job = kind.job;
  row.attempt = kind.attempt;
  row.group_name = timeline::Copied(model, kind.group_name, part);
  row.group_desc = timeline::Copied(model, kind.group_desc, part);
  row.members = timeline::Copied(model, kind.members, part);
  row.group_size = kind.group_size;
  row.op = timeline::Copied(model, kind.op, part);
  row.bytes = kind.bytes;
  row.count = static_cast<int64_t>(durations.size());
  row.basis = part.pools.Intern(kind.matched ? "min_over_ranks" : "own_duration");
  row.mean_ns = Mean(durations);
  row.median_ns = Median(durations);
  row.min_ns = Quantile(durations, 0);
  row.max_ns = Quantile(durations, 1);
  if (!found.skew_ns.empty()) row.skew_ns = Median(found.skew_ns);
  SetWire(wire, row, part);
  double factor = BusFactor(model.pools.Text(kind.op), kind.group_size);
  auto add = [&](std::string_view definition, double algbw) {
    row.definition = part.pools.Intern(definition);
    row.algbw = algbw;
    row.busbw = factor > 0 ? algbw * factor : kNoDouble;
    const bool is_own = definition == "debrief" && wire.gbps > 0 && factor > 0;
    row.link_share = is_own ? row.busbw / wire.gbps : kNoDouble;
    part.tables.Edit<ProfileBandwidthTable>().Add(row);
  };
  add("debrief", MedianBandwidth(kind.bytes, row.median_ns));
  add("tracelens", MeanOfBandwidths(kind.bytes, durations));
}

struct ArrivalKey {
  int32_t job, attempt;
  StringId group_name, group_desc;
  ListId members;
  int32_t rank;
  auto operator<=>(const ArrivalKey&) const = default;
};

struct Arrival {
  int64_t collectives = 0, wait_ns = 0, times_last = 0, times_first = 0;
};

std::map<ArrivalKey, Arrival> FindArrivals(const Model& model) {
  const auto& matches = model.tables.Get<ProfileCollectiveMatchTable>();
  const auto& waits = model.tables.Get<ProfileCollectiveWaitTable>();
  std::map<ArrivalKey, Arrival> arrivals;
  for (size_t row = 0; row < waits.size(); ++row) {
    auto match = static_cast<size_t>(waits.match[row]);
    Arrival& arrival =
        arrivals[{matches.job[match], matches.attempt[match], matches.group_name[match],
                  matches.group_desc[match], matches.members[match], waits.rank[row]}];
    ++arrival.collectives;
    arrival.wait_ns += waits.wait_ns[row];
    if (matches.last_rank[match] == waits.rank[row]) ++arrival.times_last;
    if (matches.first_rank[match] == waits.rank[row]) ++arrival.times_first;
  }
  return arrivals;
}

void AddArrivals(const Model& model, Part& part) {
  for (const auto& [key, arrival] : FindArrivals(model)) {
    ProfileArrivalRow row;
    row.job = key.job;
    row.attempt = key.attempt;
    row.group_name = timeline::Copied(model, key.group_name, part);
    row.group_desc = timeline::Copied(model, key.group_desc, part);
    row.members = timeline::Copied(model, key.members, part);
    row.rank = key.rank;
    row.collectives = arrival.collectives;
    row.wait_sum_ns = arrival.wait_ns;
    row.wait_mean_ns = arrival.wait_ns / arrival.collectives;
    row.times_last = arrival.times_last;
    row.times_first = arrival.times_first;
    part.tables.Edit<ProfileArrivalTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  const Samples samples = FindSamples(model);
  const Wires wires(model);
  std::map<Kind, int64_t> rows;
  for (const auto& [kind, durations] : samples) {
    rows[kind] = static_cast<int64_t>(result.part.tables.Get<ProfileBandwidthTable>().size());
    AddBandwidth(model, kind, durations, wires.Of(kind), result.part);
  }
  AddArrivals(model, result.part);
  result.findings = FindSlowGroups(model, samples, rows);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info =
          {.name = "profile_comms",
           .sentence = "How fast do the groups communicate, and who waits for whom?",
           .example = "all_reduce of mesh_dp [4, 12] takes 2.6 times as long as in the 7 other "
                      "groups of its kind (3.120 ms for 67108864 bytes)",
           .needs = kTableNames<ProfileCollectiveTable>,
           .makes = kTableNames<ProfileBandwidthTable, ProfileArrivalTable>,
           .uses =
               kTableNames<ProfileCollectiveMatchTable, ProfileCollectiveWaitTable, TimelineTable,
                           TimelineDeviceTable, NcclLinkTable, RooflinePeakTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::profile_comms
