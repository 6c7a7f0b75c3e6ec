#include "analyses/profile/kernels/hta_kernels.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace debrief::analyses::profile_kernels {

namespace {

using timeline::HtaType;
using timeline::TimelineView;

constexpr size_t kMostNames = 10;
constexpr double kRatio = 0.8;
constexpr std::string_view kOthers = "others";

Summary Summarised(std::vector<int64_t>& values) {
  Summary summary = Summarise(values);
  if (summary.count == 1) summary.stddev = 0;
  return summary;
}

std::vector<HtaKernel> ByName(const TimelineView& view, const timeline::HtaRows& rows, HtaType type,
                              std::string_view type_name) {
  std::unordered_map<StringId, std::vector<int64_t>> durations;
  for (const timeline::HtaRow& row : rows.rows) {
    if (row.type == type)
      durations[view.name[TimelineView::At(row.slice)]].push_back(row.time.length());
  }
  std::vector<HtaKernel> kernels;
  for (auto& [name, values] : durations)
    kernels.push_back({view.model.pools.Text(name), type_name, Summarised(values)});
  std::sort(kernels.begin(), kernels.end(),
            [](const HtaKernel& a, const HtaKernel& b) { return a.name < b.name; });
  return kernels;
}

// Linear between neighbours, as pandas has it; `sorted` is not empty.
double QuantileOf(const std::vector<int64_t>& sorted, double ratio) {
  const double place = ratio * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const auto low = static_cast<double>(sorted[below]);
  return low + (static_cast<double>(sorted[above]) - low) * (place - std::floor(place));
}

std::vector<int64_t> RunningSums(const std::vector<HtaKernel>& kernels) {
  std::vector<int64_t> sums;
  int64_t sum = 0;
  for (const HtaKernel& kernel : kernels) sums.push_back(sum += kernel.summary.total);
  return sums;
}

std::vector<HtaKernel> Shortened(std::vector<HtaKernel> kernels) {
  if (kernels.size() <= kMostNames) return kernels;
  std::stable_sort(kernels.begin(), kernels.end(), [](const HtaKernel& a, const HtaKernel& b) {
    return a.summary.total > b.summary.total;
  });
  const std::vector<int64_t> sums = RunningSums(kernels);
  std::vector<int64_t> sorted = sums;
  std::sort(sorted.begin(), sorted.end());  // rounding may make a duration negative
  const double limit = QuantileOf(sorted, kRatio);
  std::vector<HtaKernel> kept;
  std::vector<int64_t> others;
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::vector<int64_t> own = {kernels[i].summary.total};
    if (i >= kMostNames || static_cast<double>(sums[i]) > limit) {
      others.push_back(own.front());
    } else {
      kept.push_back({kernels[i].name, kernels[i].type, Summarised(own)});
    }
  }
  kept.push_back({kOthers, kernels.front().type, Summarised(others)});
  std::sort(kept.begin(), kept.end(),
            [](const HtaKernel& a, const HtaKernel& b) { return a.name < b.name; });
  return kept;
}

}  // namespace

std::vector<HtaKernel> HtaKernelsOf(const TimelineView& view, timeline::HtaNames& names) {
  const timeline::HtaRows rows = timeline::HtaRowsOf(view, names);
  auto kernels = Shortened(ByName(view, rows, HtaType::kCommunication, "communication"));
  auto computing = Shortened(ByName(view, rows, HtaType::kComputation, "computation"));
  kernels.insert(kernels.end(), computing.begin(), computing.end());
  return kernels;
}

}  // namespace debrief::analyses::profile_kernels
