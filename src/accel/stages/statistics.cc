// Statistics of kernels and ranks, as files beside the trace.
#include "base/stats/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "accel/names.h"
#include "accel/run.h"
#include "accel/side_files/run_tables.h"
#include "accel/stages/iterations.h"
#include "accel/stages/stages.h"
#include "accel/stages/utilisation.h"
#include "base/text/escape.h"
#include "compat/acelyzer/python_text.h"

namespace debrief::accel {

// <stem>_summary.csv, _active.csv and _ts_analysis.csv: what each kernel took, how busy each rank
// was, and the cycles between stamps. Tab separated and padded, times in microseconds.

namespace {

// All slices of one name on one rank.
struct KernelStats {
  std::string name;
  std::vector<double> durations;
  std::array<std::vector<double>, 4> gaps;  // in cycles, TS1 to TS2 ... TS4 to TS5
  double total = 0;
};

struct RankStats {
  std::vector<KernelStats> kernels;
  double total = 0;
  TimeSpan span;
};

std::string MomentsText(const std::vector<double>& values) {
  const Spread spread = SpreadOf(values);
  return fmt::format("\t {:8.3f}\t {:8.3f}\t {:8.3f}\t {:8.3f}\t {:8.3f}", spread.mean,
                     Median(values), spread.min, spread.max, spread.deviation);
}

double Percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string PidText(const Value& pid, const Run& run) {
  return fmt::format("{:>4}", pid.AsText(run.strings));
}

std::string SummaryHead(bool compat) {
  if (compat) {
    return "Time  \t Total Time\t Calls\t    Mean  \t  Median  \t    Min    \t   Max   \t   StDev  "
           "\t"
           "  pid\t Name \n";
  }
  return "Time(%)\t Total Time(us)\t Calls\t Mean(us)\t Median(us)\t Min(us)\t Max(us)\t "
         "StDev(us)\t"
         "  pid\t Name \n";
}

std::string ActiveHead(bool compat) {
  if (compat) {
    return "Total Kernel Time  \t  Elapsed Time\t  Start Time\t         End Time  \t Active "
           "percentage  \t   pid \n";
  }
  return "Total Kernel Time(us)\t  Elapsed Time(us)\t  Start Time(us)\t  End Time(us)\t Active(%)\t"
         "   pid \n";
}

std::string AnalysisHead() {
  std::string head = "Calls  ";
  for (const std::string_view gap : {"TS2-1", "TS3-2", "TS4-3", "TS5-4"}) {
    const bool first = gap == "TS2-1";
    head += fmt::format("\t{0}{1}_Mean   \t{1}_Median  \t{1}_Min    \t{1}_Max   \t{1}_StDev  ",
                        first ? " " : "", gap);
  }
  return head + "\tpid\t Name \n";
}

struct Texts {
  std::string summary, active, analysis;
};

void AddKernel(KernelStats& kernel, const RankStats& rank, const std::string& pid, Texts& texts) {
  texts.summary += fmt::format("{:5.2f}\t  {:9.3f}\t {:5}", Percent(kernel.total, rank.total),
                               kernel.total, kernel.durations.size());
  texts.summary += MomentsText(kernel.durations);
  texts.summary += fmt::format("\t {}\t {}{}\n", pid, CsvGuard(kernel.name), kernel.name);
  if (kernel.gaps[0].empty()) return;
  texts.analysis += fmt::format(" {:5}", kernel.gaps[0].size());
  for (std::vector<double>& gap : kernel.gaps) texts.analysis += MomentsText(gap);
  texts.analysis += fmt::format("\t {}\t {}{}\n", pid, CsvGuard(kernel.name), kernel.name);
}

// Total kernel time adds up slices that run beside each other: more than 100 % may be active.
void AddRank(RankStats& rank, const std::string& pid, Texts& texts) {
  std::stable_sort(rank.kernels.begin(), rank.kernels.end(),
                   [](const KernelStats& a, const KernelStats& b) { return a.total > b.total; });
  for (KernelStats& kernel : rank.kernels) AddKernel(kernel, rank, pid, texts);
  if (rank.span.empty()) return;
  const double elapsed = rank.span.length();
  texts.active +=
      fmt::format("{:9.3f}\t  {:9.3f}\t  {:9.3f}\t {:9.3f}\t {:5.2f}\t {}\n", rank.total, elapsed,
                  rank.span.begin, rank.span.end, Percent(rank.total, elapsed), pid);
}

// `ranks` in the order of pids.
void WriteKernelStats(std::vector<std::pair<Value, RankStats>>& ranks, Run& run) {
  const bool compat = run.options.compat;
  Texts texts{SummaryHead(compat), ActiveHead(compat), AnalysisHead()};
  for (auto& [pid, rank] : ranks) AddRank(rank, PidText(pid, run), texts);
  const auto write = [&](std::string_view purpose, std::string_view what, std::string& text) {
    const std::string path = SidePath(run.options, purpose, "csv");
    run.console.Info(fmt::format("SEC statistics {} file created:  {}", what, path));
    run.side_files.push_back({path, std::move(text)});
  };
  write("summary", "summary", texts.summary);
  write("active", "active", texts.active);
  write("ts_analysis", "timestamp analysis", texts.analysis);
}

}  // namespace

// calculate_stats: the files beside the trace that say what kernels took (side_files/), and the
// mean utilisation of each rank.
//
// The reference knows kernels of Flex alone; without --compat those of torch traces count as well,
// and tables of iterations, steps and host functions are written.
//
// Cost: sorts the durations of each kernel; linear else.

namespace {

class StatsCollector {
 public:
  explicit StatsCollector(Run& run) : run_(run) {}

  void Add(const Event& event) {
    if (event.phase != 'X' || !Counts(event)) return;
    Rank& rank = ranks_[event.pid];
    const auto [at, is_new] = rank.index.try_emplace(GroupName(event), rank.stats.kernels.size());
    if (is_new) rank.stats.kernels.push_back({std::string(run_.Text(at->first)), {}, {}, 0});
    KernelStats& kernel = rank.stats.kernels[at->second];
    kernel.durations.push_back(event.dur);
    kernel.total += event.dur;
    AddGaps(event, kernel);
    rank.stats.total += event.dur;
    rank.stats.span.Add(event);
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

std::string Rounded(double value, int digits) { return PythonFloat(PythonRound(value, digits)); }

void LogUtilisation(Run& run) {
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
  StatsCollector collector(run);
  for (const Event& event : events) collector.Add(event);
  std::vector<std::pair<Value, RankStats>> ranks = collector.Sorted();
  WriteKernelStats(ranks, run);
  LogUtilisation(run);
  DropEmptySamples(events);
  if (!run.options.compat) WriteRunTables(events, run);
}

// calculate_stats_v2 (-R): <stem>_stats_summary.csv, how long each rank computes and communicates.
//
// The reference looks for collectives by a name that they have no more; its columns of
// communication are empty.

namespace {

struct RankTimes {
  TimeSpan span;
  double compute = 0, communicate = 0;
  size_t collectives = 0;
};

// Slices of collectives lie on the host's process.
Value DevicePid(const Event& event) {
  return event.pid.IsInteger() && event.pid.integer >= 1000
             ? Value::Integer(event.pid.integer - 1000)
             : event.pid;
}

void AppendTimes(std::string& text, const Value& pid, const RankTimes& rank, const Run& run) {
  const double elapsed = rank.span.length();
  const auto number = [&](double value, bool known) {
    text += ',';
    if (known) AppendPythonFloat(text, value);
  };
  const bool communicates = rank.collectives > 0;
  text += pid.AsText(run.strings);
  number(elapsed, true);
  number(rank.compute, true);
  number(rank.communicate, communicates);
  number(elapsed > 0 ? rank.compute / elapsed : 0, true);
  number(elapsed > 0 ? rank.communicate / elapsed : 0, communicates);
  text += '\n';
}

}  // namespace

void CalculateStatsV2(EventList& events, Run& run) {
  ByValue<RankTimes> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    if (run.Traits(event).cmpt_exec) {
      RankTimes& rank = ranks[event.pid];
      rank.span.Add(event);
      rank.compute += event.dur;
    } else if (!run.options.compat && event.Has(key::kCollDataSize)) {
      RankTimes& rank = ranks[DevicePid(event)];
      rank.span.Add(event);
      rank.communicate += event.dur;
      rank.collectives += 1;
    }
  }
  std::string text =
      "pid,elapsed_time,comp_active_atime,comm_active_atime,comp_active_atime_perc,"
      "comm_active_atime_perc\n";
  for (const auto& [pid, rank] : ranks) AppendTimes(text, pid, rank, run);
  run.side_files.push_back({SidePath(run.options, "stats_summary", "csv"), std::move(text)});
}

}  // namespace debrief::accel
