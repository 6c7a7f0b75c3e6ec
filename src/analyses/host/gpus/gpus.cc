// Which GPU ran slower than its peers, failed, or fell idle before them, as DCGM, Prometheus or
// nvidia-smi recorded it?
//
// Cost: one pass over host_sample, sorting the samples of each GPU, a pass over them for each
// question.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/host/gpus/judge.h"
#include "analyses/host/gpus/series.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"
#include "tables/comm_op.h"
#include "tables/gpu_health.h"
#include "tables/host_sample.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/process_identity.h"
#include "tables/rank.h"

namespace debrief::analyses::host_gpus {

namespace {

double MiddleValue(const Values& values) {
  std::vector<double> all;
  all.reserve(values.size());
  for (const Value& each : values) all.push_back(each.value);
  return all.empty() ? kNoDouble : Median(std::move(all));
}

void AddHealth(const GpusOfJob& job, const Gpu& gpu, const Throttling& clock, Part& part) {
  GpuHealthRow row;
  std::tie(row.job, row.attempt) = job.attempt;
  row.rank = gpu.rank;
  if (!gpu.host.empty()) row.host = part.pools.Intern(gpu.host);
  row.gpu = gpu.number;
  row.samples = gpu.samples;
  row.clock_mhz = clock.busy_mhz;
  row.peers_mhz = clock.peers_mhz;
  if (clock.is_low()) {
    row.low_mhz = clock.low_mhz;
    row.low_from_ns = gpu.Of("sm_clock")[clock.from].time_ns;
  }
  if (!clock.reasons.empty()) row.reasons = part.pools.Intern(clock.reasons);
  for (const Value& each : gpu.Of("temperature"))
    row.temperature = std::fmax(row.temperature, each.value);
  row.power = MiddleValue(gpu.Of("power"));
  row.utilization_pct = MiddleValue(gpu.Utilization());
  row.busy_until_ns = BusyUntil(gpu);
  row.memory_share = LargestMemoryShare(gpu);
  if (const auto fault = FindXid(gpu)) row.xid = fault->code;
  part.tables.Edit<GpuHealthTable>().Add(row);
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const GpusOfJob& job : CollectGpus(model)) {
    const std::vector<Throttling> clocks = FindThrottling(job.gpus);
    for (size_t i = 0; i < job.gpus.size(); ++i)
      AddHealth(job, job.gpus[i], clocks[i], result.part);
    ReportThrottling(job, clocks, result.findings);
    ReportFaults(job, result.findings);
    ReportIdle(job, result.findings);
    ReportHeatAndMemory(job, clocks, result.findings);
  }
  return {};
}

}  // namespace

Finding NewFinding(const GpusOfJob& job, const Gpu& gpu, std::string_view rule) {
  Finding finding;
  finding.rule = rule;
  std::tie(finding.job, finding.attempt) = job.attempt;
  if (gpu.rank != kNone32) finding.ranks = {gpu.rank};
  return finding;
}

std::string FromTime(int64_t time_ns) {
  return time_ns == kNone64 ? "" : fmt::format(" from {} on", TimeOfDay(time_ns));
}

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "host_gpus",
               .sentence = "Which GPU ran slower than its peers, failed or fell idle before them?",
               .example = "Rank 12's GPU ran at 1,005 MHz instead of 1,980 from 02:31:10 on, "
                          "thermal throttling",
               .needs = kTableNames<HostSampleTable>,
               .makes = kTableNames<GpuHealthTable>,
               .uses =
                   kTableNames<CommOpTable, InputTable, JobTable, ProcessIdentityTable, RankTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::host_gpus
