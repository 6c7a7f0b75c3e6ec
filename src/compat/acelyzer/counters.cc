// The reference's counters, and how it chooses a table of ideal cycles.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "accel/stages/stages.h"
#include "accel/stages/utilisation.h"
#include "compat/acelyzer/python_text.h"
#include "compat/acelyzer/reference.h"

namespace debrief::accel::reference {

// queueing_counter counts nested ones wrong: 1, 2, 0, 1, 0, 0 instead of 1, 2, 1, 2, 1, 0.

namespace {

struct PrepCount {
  double ts = 0;
  int64_t count = 0;
};

// The break points of one rank.
struct PrepCounts {
  std::deque<PrepCount> points;
  int64_t last_emitted = 0;
};

class ReferenceCounter {
 public:
  ReferenceCounter(Run& run, EventList& out) : run_(run), out_(out) {}

  void Take(const Event& prep) {
    PrepCounts& state = ranks_[prep.pid];
    Emit(prep.pid, state, prep.ts);
    std::deque<PrepCount>& points = state.points;
    const double begin = prep.ts, end = prep.end();
    const bool has_inner = !points.empty() && points.front().ts < end;
    std::deque<PrepCount> merged;
    int64_t at_end = 0;
    if (!has_inner || begin < points.front().ts) merged.push_back({begin, state.last_emitted + 1});
    size_t i = 0;
    for (; i < points.size() && points[i].ts < end; ++i) {
      at_end = points[i].count;
      merged.push_back({points[i].ts, points[i].count + 1});
    }
    merged.push_back({end, at_end});
    merged.insert(merged.end(), points.begin() + static_cast<ptrdiff_t>(i), points.end());
    points = std::move(merged);
  }

  void Drain() {
    for (auto& [pid, state] : ranks_) Emit(pid, state, std::numeric_limits<double>::infinity());
  }

 private:
  void Emit(const Value& pid, PrepCounts& state, double before) {
    while (!state.points.empty() && state.points.front().ts < before) {
      state.last_emitted = state.points.front().count;
      out_.push_back(MakePrepCount(pid, state.points.front().ts, state.points.front().count, run_));
      state.points.pop_front();
    }
  }

  Run& run_;
  EventList& out_;
  ByValue<PrepCounts> ranks_;
};

}  // namespace

void QueueingCounter(EventList& events, Run& run) {
  EventList out;
  out.reserve(events.size());
  ReferenceCounter counter(run, out);
  for (const Event& event : events) {
    const bool is_prep = event.phase == 'X' && IsPrep(event, run);
    if (is_prep) counter.Take(event);
    if (!is_prep || run.options.keep_prep) out.push_back(event);
  }
  counter.Drain();
  events = std::move(out);
}

// mp_calc_bw asks for `Bytes`, which no event has any more; what is left of it is that it turns the
// list around, and with it the order of events at the same time.
void MpCalcBw(EventList& events, Run&) { std::reverse(events.begin(), events.end()); }

// compute_utilization_fingerprints compares the first kernels, their number and the time of a whole
// job with each table; a job of several iterations fits none, and the first table is taken.

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
  if (!info.HasTables()) return;
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

}  // namespace debrief::accel::reference
