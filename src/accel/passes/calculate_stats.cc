// calculate_stats: the files beside the trace that say what kernels took (side_files/), and the
// mean utilisation of each rank.
//
// The reference knows kernels of Flex alone; without --compat those of torch traces count as well,
// and tables of iterations, steps and host functions are written.
//
// Cost: sorts the durations of each kernel; linear else.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "accel/categories.h"
#include "accel/passes/names.h"
#include "accel/passes/passes.h"
#include "accel/passes/utilization.h"
#include "accel/python_text.h"
#include "accel/side_files/kernel_stats.h"
#include "accel/side_files/run_tables.h"
#include "model/accel/python_float.h"

namespace debrief::accel {
namespace {

class Collector {
 public:
  explicit Collector(Run& run) : run_(run) {}

  void Add(const Event& event) {
    if (event.phase != 'X' || !Counts(event)) return;
    Rank& rank = ranks_[event.pid];
    const auto [at, is_new] = rank.index.try_emplace(GroupName(event), rank.stats.kernels.size());
    if (is_new) rank.stats.kernels.push_back({std::string(run_.Text(at->first)), {}, {}, 0});
    KernelStats& kernel = rank.stats.kernels[at->second];
    kernel.durations.push_back(event.dur);
    kernel.total += event.dur;
    AddGaps(event, kernel);
    RankStats& stats = rank.stats;
    stats.total += event.dur;
    stats.start = stats.any ? std::min(stats.start, event.ts) : event.ts;
    stats.end = stats.any ? std::max(stats.end, event.end()) : event.end();
    stats.any = true;
  }

  std::vector<std::pair<Value, RankStats>> Sorted() {
    std::vector<std::pair<Value, RankStats>> sorted;
    for (auto& [pid, rank] : ranks_) sorted.emplace_back(pid, std::move(rank.stats));
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return PidBefore(a.first, b.first, run_.strings);
    });
    return sorted;
  }

 private:
  struct Rank {
    std::unordered_map<StringId, size_t> index;
    RankStats stats;
  };

  bool Counts(const Event& event) {
    if (run_.Traits(event).cmpt_exec) return true;
    return !run_.options.compat && IsDeviceKernel(event, run_);
  }

  // Kernels of CUDA have numbers in their template arguments, which are part of the name.
  StringId GroupName(const Event& event) {
    if (!run_.Traits(event).cmpt_exec) return event.name;
    const auto [at, is_new] = groups_.try_emplace(event.name, StringId::kNone);
    if (is_new) at->second = run_.Intern(WithPlaceholders(run_.Text(event.name)));
    return at->second;
  }

  void AddGaps(const Event& event, KernelStats& kernel) {
    int64_t cycles[5];
    if (!ReadCycles(event, run_.strings, cycles)) return;
    for (size_t i = 0; i < kernel.gaps.size(); ++i) {
      kernel.gaps[i].push_back(static_cast<double>(cycles[i + 1] - cycles[i]));
    }
  }

  Run& run_;
  ByValue<Rank> ranks_;
  std::unordered_map<StringId, StringId> groups_;
};

// Samples of "PT Active" have a duration until here; those of 0 were for the mean alone.
void DropEmptySamples(EventList& events) {
  std::erase_if(events, [](Event& event) {
    if (event.phase != 'C' || event.name != key::kPtActiveName || !event.has_dur) return false;
    event.has_dur = false;
    event.dur = 0;
    const Arg* percent = event.Find(key::kPercent);
    return percent != nullptr && percent->kind == ValueKind::kNumber && percent->number == 0;
  });
}

std::string Rounded(double value, int digits) {
  std::string text;
  AppendPythonFloat(text, PythonRound(value, digits));
  return text;
}

void SayUtilization(Run& run) {
  for (const auto& [pid, rank] : run.Shared<Utilization>().ranks) {
    const double all = rank.busy + rank.idle;
    if (all <= 0) continue;
    run.console.Info(fmt::format(
        "UTL: pid={}: avg_mm_util={}, avg_util={}, t_mm={}, t_sf={}, ratio_mm/sf={}:{}",
        pid.AsText(run.strings), Rounded(rank.busy > 0 ? 100 * rank.weighted / rank.busy : 0, 3),
        Rounded(100 * rank.weighted / all, 3), Rounded(rank.busy, 12), Rounded(rank.idle, 12),
        Rounded(100 * rank.busy / all, 2), Rounded(100 * rank.idle / all, 2)));
  }
}

}  // namespace

void CalculateStats(EventList& events, Run& run) {
  Collector collector(run);
  for (const Event& event : events) collector.Add(event);
  std::vector<std::pair<Value, RankStats>> ranks = collector.Sorted();
  WriteKernelStats(ranks, run);
  SayUtilization(run);
  DropEmptySamples(events);
  if (!run.options.compat) WriteRunTables(events, run);
}

}  // namespace debrief::accel
