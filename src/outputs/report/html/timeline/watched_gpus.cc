#include "outputs/report/html/timeline/watched_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/strings.h"
#include "tables/gpu_health.h"
#include "tables/host_sample.h"
#include "tables/input.h"
#include "torch/gpu_faults.h"
#include "torch/gpu_throttling.h"

namespace debrief::outputs::html {

namespace {

struct ShownMetric {
  std::string_view metric, words, unit;
};

// In the order of their lanes. Limits and totals do not change and are left to the tables.
constexpr std::array<ShownMetric, 12> kShownMetrics = {
    {{"sm_clock", "GPU clock", "MHz"},
     {"temperature", "GPU temperature", "\u00b0C"},
     {"power", "GPU power", "W"},
     {"utilization", "GPU utilization", "%"},
     {"engine_active", "GPU engine active", "%"},
     {"sm_active", "SM active", "%"},
     {"memory_used", "GPU memory", "bytes"},
     {"memory_clock", "memory clock", "MHz"},
     {"memory_temperature", "memory temperature", "\u00b0C"},
     {"ecc_uncorrected", "uncorrected ECC errors", ""},
     {"nvlink_errors", "NVLink errors", ""},
     {"pcie_replays", "PCIe replays", ""}}};
constexpr size_t kFirstCount = 9;  // from here on they are counts, which are 0 on a healthy GPU

constexpr size_t kThrottleMetric = kShownMetrics.size();
constexpr size_t kXidMetric = kThrottleMetric + 1;
constexpr size_t kNotShown = kXidMetric + 1;

size_t PlaceOfMetric(std::string_view metric) {
  if (metric == "throttle_reasons") return kThrottleMetric;
  if (metric == "xid") return kXidMetric;
  const auto* const at = std::find_if(kShownMetrics.begin(), kShownMetrics.end(),
                                      [&](const ShownMetric& one) { return one.metric == metric; });
  return at == kShownMetrics.end() ? kNotShown : static_cast<size_t>(at - kShownMetrics.begin());
}

// Which rank used a GPU: what the analysis of the samples found out (gpu_health). Where the monitor
// does not name the host, the path of its file may.
class RanksOfGpus {
 public:
  explicit RanksOfGpus(const Model& model)
      : pools_(model.pools),
        health_(model.tables.Get<GpuHealthTable>()),
        samples_(model.tables.Get<HostSampleTable>()),
        inputs_(model.tables.Get<InputTable>()) {
    for (size_t row = 0; row < health_.size(); ++row)
      rows_[{health_.job[row], health_.attempt[row], health_.gpu[row]}].push_back(row);
  }

  int32_t Of(size_t sample) const {
    const auto found =
        rows_.find({samples_.job[sample], samples_.attempt[sample], samples_.gpu[sample]});
    if (found == rows_.end()) return kNone32;
    const StringId host = samples_.host[sample];
    const std::string_view path = PathOf(samples_.input[sample]);
    size_t fitting = 0;
    int32_t rank = kNone32;
    for (size_t row : found->second) {
      const std::string_view known = pools_.Text(health_.host[row]);
      const bool fits = host != StringId::kNone ? health_.host[row] == host
                                                : known.empty() || Contains(path, known);
      if (!fits) continue;
      ++fitting;
      rank = health_.rank[row];
    }
    return fitting == 1 ? rank : kNone32;
  }

 private:
  std::string_view PathOf(int32_t input) const {
    const auto row = static_cast<size_t>(input);
    return input >= 0 && row < inputs_.size() ? pools_.Text(inputs_.path[row]) : "";
  }

  const Pools& pools_;
  const GpuHealthTable& health_;
  const HostSampleTable& samples_;
  const InputTable& inputs_;
  std::map<std::tuple<int32_t, int32_t, int32_t>, std::vector<size_t>> rows_;
};

// Samples of one series follow each other: most rows are of the GPU and the metric of the row
// before.
class WatchedGatherer {
 public:
  WatchedGatherer(const Model& model, const TimeSpan& job)
      : pools_(model.pools),
        table_(model.tables.Get<HostSampleTable>()),
        ranks_(model),
        taken_(Near(table_, job)) {}

  std::vector<WatchedGpu> Gather() {
    for (size_t row = 0; row < table_.size(); ++row) {
      const int64_t time = table_.time_ns[row];
      const bool is_taken = time >= 0 && (taken_.begin_ns == kNone64 || IsIn(taken_, time));
      if (is_taken && IsOfGpu(row)) Add(static_cast<uint32_t>(row));
    }
    std::vector<WatchedGpu> all;
    std::map<int32_t, int32_t> numbers;  // by input
    for (auto& [subject, gpu] : gpus_) {
      Finish(gpu);
      if (gpu.earliest_ns == kNone64) continue;
      gpu.number = numbers[gpu.who.input]++;
      all.push_back(std::move(gpu));
    }
    return all;
  }

 private:
  // The order is that of inputs, hosts by their names, and numbers.
  using Subject = std::tuple<int32_t, std::string_view, int32_t, std::string_view>;

  static bool IsIn(const TimeSpan& span, int64_t time_ns) {
    return time_ns >= span.begin_ns && time_ns <= span.end_ns;
  }

  // The time of the job and a quarter of it on both sides, a minute at least; none: all samples.
  static TimeSpan Near(const HostSampleTable& table, const TimeSpan& job) {
    constexpr int64_t kLeastNs = int64_t{60} * 1'000'000'000;
    if (job.begin_ns < 0 || job.end_ns < job.begin_ns) return {};
    const int64_t more = std::max((job.end_ns - job.begin_ns) / 4, kLeastNs);
    const TimeSpan near = {job.begin_ns - more,
                           job.end_ns + std::min(more, INT64_MAX - job.end_ns)};
    const bool any = std::any_of(table.time_ns.begin(), table.time_ns.end(),
                                 [&](int64_t time) { return IsIn(near, time); });
    return any ? near : TimeSpan{};
  }

  bool IsOfGpu(size_t row) const {
    return table_.gpu[row] != kNone32 || table_.uuid[row] != StringId::kNone ||
           table_.bus_id[row] != StringId::kNone;
  }

  void Add(uint32_t row) {
    const auto series = std::tuple(table_.input[row], table_.host[row], table_.gpu[row],
                                   table_.uuid[row], table_.bus_id[row], table_.metric[row]);
    if (rows_ == nullptr || series != series_) {
      series_ = series;
      rows_ = &RowsOf(row);
    }
    rows_->push_back(row);
  }

  std::vector<uint32_t>& RowsOf(uint32_t row) {
    const size_t place = PlaceOfMetric(pools_.Text(table_.metric[row]));
    if (place == kNotShown) return not_shown_;
    const StringId id = table_.uuid[row] != StringId::kNone ? table_.uuid[row] : table_.bus_id[row];
    const bool has_number = table_.gpu[row] != kNone32;
    const Subject subject(table_.input[row], pools_.Text(table_.host[row]), table_.gpu[row],
                          has_number ? std::string_view() : pools_.Text(id));
    auto [at, is_new] = gpus_.try_emplace(subject);
    WatchedGpu& gpu = at->second;
    if (is_new) {
      gpu.row = row;
      gpu.who = {table_.input[row], table_.job[row], table_.attempt[row], ranks_.Of(row)};
    }
    const auto known = std::find_if(gpu.metrics.begin(), gpu.metrics.end(),
                                    [&](const WatchedMetric& one) { return one.known == place; });
    if (known != gpu.metrics.end()) return known->rows;
    return gpu.metrics.emplace_back(WatchedMetric{.known = place, .rows = {}}).rows;
  }

  void Finish(WatchedGpu& gpu) const {
    for (WatchedMetric& metric : gpu.metrics) {
      std::stable_sort(metric.rows.begin(), metric.rows.end(), [&](uint32_t a, uint32_t b) {
        return table_.time_ns[a] < table_.time_ns[b];
      });
      const int64_t first = table_.time_ns[metric.rows.front()];
      if (gpu.earliest_ns == kNone64 || first < gpu.earliest_ns) gpu.earliest_ns = first;
      if (metric.known == kThrottleMetric) AddThrottling(metric.rows, gpu);
      if (metric.known == kXidMetric) AddFaults(metric.rows, gpu);
    }
    std::erase_if(gpu.metrics, [&](const WatchedMetric& one) {
      return one.known >= kThrottleMetric || (one.known >= kFirstCount && IsZero(one.rows));
    });
    std::sort(gpu.metrics.begin(), gpu.metrics.end(),
              [](const WatchedMetric& a, const WatchedMetric& b) { return a.known < b.known; });
    if (gpu.metrics.empty() && gpu.events.empty()) gpu.earliest_ns = kNone64;
  }

  bool IsZero(const std::vector<uint32_t>& rows) const {
    return std::all_of(rows.begin(), rows.end(),
                       [&](uint32_t row) { return table_.value[row] == 0; });
  }

  // A reason holds until the next sample.
  void AddThrottling(const std::vector<uint32_t>& rows, WatchedGpu& gpu) const {
    const ThrottleReason* before = nullptr;
    for (uint32_t row : rows) {
      const ThrottleReason* reason = ThrottleReasonOf(CodeOf(table_.value[row]));
      const int64_t time = table_.time_ns[row];
      if (before != nullptr) gpu.events.back().end_ns = time;
      if (reason != nullptr && reason != before)
        gpu.events.push_back({.start_ns = time, .end_ns = time, .code = reason->bits});
      before = reason;
    }
  }

  // Monitors repeat the code of the last fault: a new one is a fault, also the first where it was
  // none.
  void AddFaults(const std::vector<uint32_t>& rows, WatchedGpu& gpu) const {
    int64_t before = rows.empty() ? 0 : CodeOf(table_.value[rows.front()]);
    for (uint32_t row : rows) {
      const int64_t code = CodeOf(table_.value[row]);
      const int64_t time = table_.time_ns[row];
      if (code != before && code != 0)
        gpu.events.push_back({.start_ns = time, .end_ns = time, .code = code, .is_fault = true});
      before = code;
    }
  }

  const Pools& pools_;
  const HostSampleTable& table_;
  RanksOfGpus ranks_;
  TimeSpan taken_;
  std::map<Subject, WatchedGpu> gpus_;
  std::tuple<int32_t, StringId, int32_t, StringId, StringId, StringId> series_;
  std::vector<uint32_t>* rows_ = nullptr;
  std::vector<uint32_t> not_shown_;
};

// "n1 GPU 2"
std::string NameOfGpu(const Model& model, size_t row) {
  const auto& samples = model.tables.Get<HostSampleTable>();
  const Pools& pools = model.pools;
  std::string name(CutText(pools.Text(samples.host[row])));
  if (!name.empty()) name += ' ';
  if (samples.gpu[row] != kNone32) return name + fmt::format("GPU {}", samples.gpu[row]);
  const std::string_view uuid = pools.Text(samples.uuid[row]);
  return name.append(CutText(uuid.empty() ? pools.Text(samples.bus_id[row]) : uuid));
}

std::string LaneName(const std::string& who, std::string_view what) {
  return fmt::format("{} \u00b7 {}", who, what);
}

std::string GpuEventWords(const GpuEvent& event) {
  const ThrottleReason* reason = event.is_fault ? nullptr : ThrottleReasonOf(event.code);
  if (reason != nullptr) return std::string(reason->words);
  const GpuFault* fault = GpuFaultOf(event.code);
  return fault == nullptr ? fmt::format("Xid {}", event.code)
                          : fmt::format("Xid {}: {}", event.code, fault->words);
}

// GPUs under load run into their power cap: that accuses nobody.
SliceKind KindOfEvent(const GpuEvent& event) {
  if (event.is_fault) return SliceKind::kGpuFault;
  const ThrottleReason* reason = ThrottleReasonOf(event.code);
  return reason != nullptr && reason->is_fault ? SliceKind::kThrottling : SliceKind::kPowerCap;
}

void AddEvents(const WatchedGpu& gpu, int64_t zero, const std::string& who, TimelineMaker& maker) {
  for (const bool is_fault : {false, true}) {
    maker.slices.clear();
    for (const GpuEvent& event : gpu.events) {
      Slice slice;
      if (event.is_fault != is_fault) continue;
      if (!SetTimes(zero, event.start_ns, event.end_ns - event.start_ns, slice)) continue;
      slice.name = maker.texts.Number(std::string_view(GpuEventWords(event)));
      slice.number = static_cast<uint32_t>(&event - gpu.events.data());
      slice.kind = KindOfEvent(event);
      maker.slices.push_back(slice);
    }
    maker.AddUnsortedLane(is_fault ? "faults" : "throttling",
                          LaneName(who, is_fault ? "GPU faults" : "GPU throttling"), "events");
  }
}

}  // namespace

size_t WatchedGpu::points() const {
  size_t count = 0;
  for (const WatchedMetric& metric : metrics) count += metric.rows.size();
  return count;
}

std::vector<WatchedGpu> WatchedGpus(const Model& model, const TimeSpan& job) {
  return WatchedGatherer(model, job).Gather();
}

void AddWatchedGpu(const WatchedGpu& gpu, TimelineMaker& maker) {
  const Model& model = maker.context.model;
  const auto& table = model.tables.Get<HostSampleTable>();
  const std::string name = NameOfGpu(model, gpu.row);
  const std::string who = gpu.who.rank == kNone32 ? name : fmt::format("rank {}", gpu.who.rank);
  TimelineProcess& process =
      maker.AddProcess(gpu.who, fmt::format("{}.{}", gpu.who.input, gpu.number),
                       fmt::format("GPU counters ({})", name));
  process.source = "host";
  process.place = ProcessPlace::kMonitor;
  process.shift = ShiftOfRank(model, gpu.who);
  const int64_t zero = maker.SetZero(gpu.earliest_ns);
  for (const WatchedMetric& metric : gpu.metrics) {
    const ShownMetric& shown = kShownMetrics[metric.known];
    CounterSeries series{.name = "", .unit = std::string(shown.unit), .points = {}};
    for (uint32_t row : metric.rows) {
      Slice at;
      if (SetTimes(zero, table.time_ns[row], 0, at))
        series.points.push_back({at.start, table.value[row]});
    }
    maker.AddCounters(std::string(shown.metric), LaneName(who, shown.words), {std::move(series)});
  }
  AddEvents(gpu, zero, who, maker);
}

}  // namespace debrief::outputs::html
