#include "compat/hta/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/stats/statistics.h"
#include "base/text/strings.h"
#include "model/timeline/device_time.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_idle.h"
#include "tables/profile_kernel.h"
#include "tables/profile_kernel_types.h"
#include "tables/profile_overlap.h"

namespace debrief::hta {

namespace {

constexpr int64_t kMicrosecond = 1000;

template <typename Row>
Row NewRow(const TimelineView& view, Part& part) {
  auto row = view.NewRow<Row>();
  row.definition = part.pools.Intern("hta");
  return row;
}

double RoundedPercent(int64_t part, int64_t whole) {
  if (whole <= 0) return kNoDouble;
  return RoundedAsPandas(100 * (static_cast<double>(part) / static_cast<double>(whole)), 2);
}

void AddKernelTypes(const TimelineView& view, const Rows& rows, Part& part) {
  static constexpr std::array<std::string_view, 3> kTypes = {"COMPUTATION", "COMMUNICATION",
                                                             "MEMORY"};
  const auto sets =
      timeline::TimeOfSets({Merged(rows, Type::kComputation), Merged(rows, Type::kCommunication),
                            Merged(rows, Type::kMemory)});
  int64_t all = 0;
  for (const auto& [set, time] : sets) all += time;
  for (const auto& [name, time] : timeline::NamedSets(sets, kTypes)) {
    auto row = NewRow<ProfileKernelTypesRow>(view, part);
    row.kernel_type = part.pools.Intern(name);
    row.time_ns = time * kMicrosecond;
    row.share_pct = RoundedAsPandas(static_cast<double>(time) / static_cast<double>(all) * 100, 1);
    part.tables.Edit<ProfileKernelTypesTable>().Add(row);
  }
}

enum Category : size_t { kHostWait, kKernelWait, kOther, kCategories };
constexpr std::array<std::string_view, kCategories> kIdleNames = {"host_wait", "kernel_wait",
                                                                  "other"};

// HTA's default. Its documentation says nanoseconds; what it compares are microseconds.
constexpr int64_t kConsecutiveKernelDelay = 30;

struct Sums {
  int64_t gaps = 0, time = 0, longest = 0;
};

struct Stream {
  std::array<Sums, kCategories> sums;
  int64_t rows = 0;
  int64_t last_end = 0;
};

Category CategoryOf(const Row& row, int64_t last_end) {
  if (row.launch != kNone64 && row.launch > last_end) return kHostWait;
  return row.time.begin - last_end < kConsecutiveKernelDelay ? kKernelWait : kOther;
}

// The first row of a stream has no gap before it and still makes a row of `other`.
void AddGap(const Row& row, Stream& stream) {
  if (stream.rows++ > 0) {
    int64_t gap = row.time.begin - stream.last_end;
    Sums& sums = stream.sums[CategoryOf(row, stream.last_end)];
    ++sums.gaps;
    sums.time += gap;
    sums.longest = std::max(sums.longest, gap);
  }
  stream.last_end = row.time.end;
}

void AddStream(const TimelineView& view, int64_t number, const Stream& stream, Part& part) {
  int64_t all = 0;
  for (const Sums& sums : stream.sums) all += sums.time;
  for (size_t category = 0; category < kCategories; ++category) {
    const Sums& sums = stream.sums[category];
    if (sums.gaps == 0 && category != kOther) continue;
    auto row = NewRow<ProfileIdleRow>(view, part);
    row.stream = number;
    row.category = part.pools.Intern(kIdleNames[category]);
    row.idle_ns = sums.time * kMicrosecond;
    row.gaps = sums.gaps;
    row.longest_ns = sums.longest * kMicrosecond;
    if (all != 0)
      row.ratio = RoundedAsPandas(static_cast<double>(sums.time) / static_cast<double>(all), 2);
    part.tables.Edit<ProfileIdleTable>().Add(row);
  }
}

constexpr size_t kMostNames = 10;
constexpr double kRatio = 0.8;
constexpr std::string_view kOthers = "others";

struct Kernel {
  std::string_view name;
  std::string_view type;
  Summary summary;  // whole microseconds; standard deviation 0 of a single value
};

Summary Summarised(std::vector<int64_t>& values) {
  Summary summary = Summarise(values);
  if (summary.count == 1) summary.stddev = 0;
  return summary;
}

std::vector<Kernel> ByName(const TimelineView& view, const Rows& rows, Type type,
                           std::string_view type_name) {
  std::unordered_map<StringId, std::vector<int64_t>> durations;
  for (const Row& row : rows.rows) {
    if (row.type == type)
      durations[view.name[TimelineView::At(row.slice)]].push_back(row.time.length());
  }
  std::vector<Kernel> kernels;
  for (auto& [name, values] : durations)
    kernels.push_back({view.model.pools.Text(name), type_name, Summarised(values)});
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
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

std::vector<int64_t> RunningSums(const std::vector<Kernel>& kernels) {
  std::vector<int64_t> sums;
  int64_t sum = 0;
  for (const Kernel& kernel : kernels) sums.push_back(sum += kernel.summary.total);
  return sums;
}

std::vector<Kernel> Shortened(std::vector<Kernel> kernels) {
  if (kernels.size() <= kMostNames) return kernels;
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel& a, const Kernel& b) {
    return a.summary.total > b.summary.total;
  });
  const std::vector<int64_t> sums = RunningSums(kernels);
  std::vector<int64_t> sorted = sums;
  std::sort(sorted.begin(), sorted.end());  // rounding may make a duration negative
  const double limit = QuantileOf(sorted, kRatio);
  std::vector<Kernel> kept;
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
            [](const Kernel& a, const Kernel& b) { return a.name < b.name; });
  return kept;
}

bool IsInStatistics(std::string_view function) {
  return IsOneOf(function, {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync",
                            "cudaMemsetAsync"}) ||
         function.starts_with("runFunction");
}

bool IsInQueues(std::string_view function) {
  return IsInStatistics(function) ||
         IsOneOf(function, {"cuLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel",
                            "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
                            "hipMemcpyWithStream"});
}

}  // namespace

void AddBreakdown(const TimelineView& view, Names& names, Part& part) {
  const Rows rows = RowsOf(view, names);
  if (rows.rows.empty()) return;
  std::vector<Interval> all;
  all.reserve(rows.rows.size());
  for (const Row& each : rows.rows) all.push_back(each.time);
  const std::vector<Interval> busy = Merge(std::move(all));
  const int64_t base = BaseOf(view);
  auto row = NewRow<ProfileBreakdownRow>(view, part);
  row.scope = part.pools.Intern("all");
  row.window_start_ns = busy.front().begin * kMicrosecond + base;
  row.window_end_ns = busy.back().end * kMicrosecond + base;
  row.total_ns = row.window_end_ns - row.window_start_ns;
  row.busy_ns = Length(busy) * kMicrosecond;
  row.idle_ns = row.total_ns - row.busy_ns;
  row.compute_ns = Length(Merged(rows, Type::kComputation)) * kMicrosecond;
  row.other_ns = row.total_ns - row.compute_ns - row.idle_ns;
  row.kernels = static_cast<int64_t>(rows.rows.size());
  row.left_out_unlinked = 0;
  row.left_out_negative = rows.negative;
  row.left_out_outside = rows.left_out;
  row.idle_known = 1;
  row.busy_pct = RoundedPercent(row.busy_ns, row.total_ns);
  row.idle_pct = RoundedPercent(row.idle_ns, row.total_ns);
  row.compute_pct = RoundedPercent(row.compute_ns, row.total_ns);
  row.other_pct = RoundedPercent(row.other_ns, row.total_ns);
  part.tables.Edit<ProfileBreakdownTable>().Add(row);
}

void AddOverlap(const TimelineView& view, Names& names, Part& part) {
  const Rows rows = RowsOf(view, names);
  if (rows.rows.empty()) return;
  const int64_t base = BaseOf(view);
  const std::vector<Interval> compute = Merged(rows, Type::kComputation);
  const std::vector<Interval> communication = Merged(rows, Type::kCommunication);
  int64_t last_end = rows.rows.front().time.end;
  for (const Row& each : rows.rows) last_end = std::max(last_end, each.time.end);
  auto row = NewRow<ProfileOverlapRow>(view, part);
  row.scope = part.pools.Intern("all");
  row.window_start_ns = rows.rows.front().time.begin * kMicrosecond + base;
  row.window_end_ns = last_end * kMicrosecond + base;
  row.computation_ns = Length(compute) * kMicrosecond;
  row.communication_ns = Length(communication) * kMicrosecond;
  row.overlap_ns = timeline::TimeOfSets({compute, communication})[3] * kMicrosecond;
  row.overlap_pct = RoundedAsPandas(
      row.communication_ns > 0
          ? 100 * static_cast<double>(row.overlap_ns) / static_cast<double>(row.communication_ns)
          : kNoDouble,
      2);
  part.tables.Edit<ProfileOverlapTable>().Add(row);
  AddKernelTypes(view, rows, part);
}

void AddIdle(const TimelineView& view, Names& names, Part& part) {
  std::map<int64_t, Stream> streams;
  for (const Row& row : RowsOf(view, names).rows) {
    if (row.is_work) AddGap(row, streams[row.stream]);
  }
  for (const auto& [number, stream] : streams) AddStream(view, number, stream, part);
}

void AddKernels(const TimelineView& view, Names& names, Part& part) {
  const Rows rows = RowsOf(view, names);
  auto kernels = Shortened(ByName(view, rows, Type::kCommunication, "communication"));
  const auto computing = Shortened(ByName(view, rows, Type::kComputation, "computation"));
  kernels.insert(kernels.end(), computing.begin(), computing.end());
  for (const Kernel& kernel : kernels) {
    auto row = NewRow<ProfileKernelRow>(view, part);
    row.name = part.pools.Intern(kernel.name);
    row.device_class = part.pools.Intern(kernel.type);
    row.total_ns = kernel.summary.total * kMicrosecond;
    row.min_ns = kernel.summary.min * kMicrosecond;
    row.max_ns = kernel.summary.max * kMicrosecond;
    row.mean_ns = kernel.summary.mean * kMicrosecond;
    row.stddev_ns = kernel.summary.stddev * kMicrosecond;
    part.tables.Edit<ProfileKernelTable>().Add(row);
  }
}

Launches LaunchesOf(const TimelineView& view, Names& names) {
  const std::vector<int32_t> call_of = timeline::LaunchLinksOf(view).launch;
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  Launches launches;
  for (const Row& row : RowsOf(view, names).rows) {
    const int32_t call = call_of[TimelineView::At(row.slice)];
    if (call == kNone32) continue;
    const Interval called = WholeMicroseconds(view.start[TimelineView::At(call)] - BaseOf(view),
                                              view.duration[TimelineView::At(call)]);
    const int32_t track = view.track[TimelineView::At(row.slice)];
    const timeline::Launch launch = {
        .call = call,
        .device = tracks.device[view.tracks.begin + TimelineView::At(track)],
        .stream = row.stream,
        .call_start = called.begin * kMicrosecond,
        .call_end = called.end * kMicrosecond,
        .work_start = row.time.begin * kMicrosecond,
        .work_time = row.time.length() * kMicrosecond};
    if (IsInStatistics(view.NameOf(call))) launches.for_statistics.push_back(launch);
    if (IsInQueues(view.NameOf(call))) launches.for_queues.push_back(launch);
  }
  return launches;
}

}  // namespace debrief::hta
