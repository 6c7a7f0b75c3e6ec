// compute_utilization_fingerprints (-c): which table of ideal cycles each job ran. Changes nothing.
//
// The reference compares the first kernels, their number and the time of a whole job with each
// table; a job of several iterations fits none, and the first table is taken. Without --compat
// compute_utilization chooses by itself, iteration by iteration.
#include <fmt/format.h>

#include <algorithm>

#include "accel/passes/passes.h"
#include "accel/passes/utilization.h"
#include "accel/python_text.h"

namespace debrief::accel {
namespace {

constexpr size_t kFirstKernels = 30;

struct Fingerprint {
  std::vector<std::string> names;
  size_t kernels = 0;
  double time = 0;
  Value pid;
};

struct Similarity {
  size_t table = 0;
  double value = 0;
};

bool ContainsInOrder(const IdealTable& table, const std::vector<std::string>& names) {
  std::vector<std::string_view> rows;
  for (const uint32_t row : table.sequence) rows.push_back(table.kernels[row].name);
  return std::search(rows.begin(), rows.end(), names.begin(), names.end()) != rows.end();
}

double Compare(const Fingerprint& job, const IdealTable& table, double core_mhz) {
  double table_time = 0;
  for (const IdealKernel& kernel : table.kernels) {
    table_time += static_cast<double>(kernel.cycles) / core_mhz;
  }
  const auto in_table = static_cast<double>(table.sequence.size());
  if (job.kernels > table.sequence.size() || table_time > job.time || job.time <= 0) return 0;
  return 0.5 * (ContainsInOrder(table, job.names) ? 1 : 0.5) +
         0.5 * (static_cast<double>(job.kernels) / in_table) + 0.5 * (table_time / job.time);
}

// Whether the choice is clear.
std::pair<Similarity, bool> Choose(const Fingerprint& job, const CompilerLog& log, double mhz) {
  std::vector<Similarity> all;
  for (size_t i = 0; i < log.tables.size(); ++i)
    all.push_back({i, Compare(job, log.tables[i], mhz)});
  std::stable_sort(all.begin(), all.end(),
                   [](const Similarity& a, const Similarity& b) { return a.value > b.value; });
  const bool close = all.size() > 1 && all[0].value - all[1].value < 0.2;
  return {all[0], all[0].value >= 0.8 && !close};
}

using Fingerprints = std::map<std::pair<uint32_t, int64_t>, Fingerprint>;

Fingerprints Collect(const EventList& events, const CompilerInfo& info, Run& run) {
  Fingerprints jobs;
  for (const Event& event : events) {
    if (!IsDeviceKernel(event, run)) continue;
    const CompilerLog* log = info.LogOf(event.pid);
    if (log == nullptr) continue;
    Fingerprint& job = jobs[JobKey(event, run)];
    if (job.names.size() < kFirstKernels) {
      job.names.push_back(log->autopilot ? "Total" : KernelName(event, run));
    }
    job.pid = event.pid;
    job.kernels += 1;
    job.time += event.dur;
  }
  return jobs;
}

}  // namespace

void ComputeUtilizationFingerprints(EventList& events, Run& run) {
  auto& state = run.Shared<Utilization>();
  const CompilerInfo& info = state.Info(run);
  if (!run.options.compat || !info.HasTables()) return;
  std::string unclear;
  size_t unclear_jobs = 0;
  for (const auto& [key, job] : Collect(events, info, run)) {
    const CompilerLog& log = *info.LogOf(job.pid);
    const auto [best, clear] = Choose(job, log, run.options.core_mhz);
    state.chosen[key] = best.table;
    if (clear || log.tables.empty()) continue;
    ++unclear_jobs;
    const int64_t number = key.first < run.jobs.size() ? run.jobs[key.first].number : 0;
    unclear += fmt::format("{}'{}:", unclear.empty() ? "" : ", ", number);
    AppendPythonFloat(unclear, best.value);
    unclear += "'";
  }
  if (unclear_jobs > 0) {
    run.console.Warning(
        fmt::format("UTL: Detected uncertain Ideal Cycles table match for {} jobs: {{{}}}",
                    unclear_jobs, unclear));
  }
}

}  // namespace debrief::accel
