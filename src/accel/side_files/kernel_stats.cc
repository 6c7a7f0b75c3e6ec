#include "accel/side_files/kernel_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace debrief::accel {
namespace {

struct Moments {
  double mean = 0, median = 0, min = 0, max = 0, deviation = 0;
};

Moments MomentsOf(std::vector<double>& values) {
  Moments moments;
  if (values.empty()) return moments;
  std::sort(values.begin(), values.end());
  const size_t count = values.size();
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  moments.mean = sum / static_cast<double>(count);
  for (const double value : values) squares += (value - moments.mean) * (value - moments.mean);
  moments.deviation = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
  moments.median =
      count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  moments.min = values.front();
  moments.max = values.back();
  return moments;
}

std::string MomentsText(std::vector<double>& values) {
  const Moments m = MomentsOf(values);
  return fmt::format("\t {:8.3f}\t {:8.3f}\t {:8.3f}\t {:8.3f}\t {:8.3f}", m.mean, m.median, m.min,
                     m.max, m.deviation);
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
  texts.summary += fmt::format("\t {}\t {}\n", pid, kernel.name);
  if (kernel.gaps[0].empty()) return;
  texts.analysis += fmt::format(" {:5}", kernel.gaps[0].size());
  for (std::vector<double>& gap : kernel.gaps) texts.analysis += MomentsText(gap);
  texts.analysis += fmt::format("\t {}\t {}\n", pid, kernel.name);
}

// Total kernel time adds up slices that run beside each other: more than 100 % may be active.
void AddRank(RankStats& rank, const std::string& pid, Texts& texts) {
  std::stable_sort(rank.kernels.begin(), rank.kernels.end(),
                   [](const KernelStats& a, const KernelStats& b) { return a.total > b.total; });
  for (KernelStats& kernel : rank.kernels) AddKernel(kernel, rank, pid, texts);
  if (!rank.any) return;
  const double elapsed = rank.end - rank.start;
  texts.active +=
      fmt::format("{:9.3f}\t  {:9.3f}\t  {:9.3f}\t {:9.3f}\t {:5.2f}\t {}\n", rank.total, elapsed,
                  rank.start, rank.end, Percent(rank.total, elapsed), pid);
}

}  // namespace

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

}  // namespace debrief::accel
