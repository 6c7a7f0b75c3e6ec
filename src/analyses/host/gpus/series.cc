#include "analyses/host/gpus/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text/scan.h"
#include "tables/comm_op.h"
#include "tables/host_sample.h"
#include "tables/input.h"

namespace debrief::analyses::host_gpus {

namespace {

constexpr std::array<std::string_view, 15> kUsedMetrics = {"sm_clock",
                                                           "temperature",
                                                           "power",
                                                           "utilization",
                                                           "engine_active",
                                                           "throttle_reasons",
                                                           "xid",
                                                           "ecc_uncorrected",
                                                           "nvlink_errors",
                                                           "nvlink_recoveries",
                                                           "memory_used",
                                                           "memory_free",
                                                           "memory_total",
                                                           "thermal_violation",
                                                           "thermal_violation_now"};

std::string_view UsedMetric(std::string_view metric) {
  const auto* found = std::find(kUsedMetrics.begin(), kUsedMetrics.end(), metric);
  return found == kUsedMetrics.end() ? std::string_view() : *found;
}

struct Span {
  int64_t begin_ns = kNone64, end_ns = kNone64;

  void Widen(int64_t time_ns) {
    if (time_ns == kNone64) return;
    begin_ns = begin_ns == kNone64 ? time_ns : std::min(begin_ns, time_ns);
    end_ns = std::max(end_ns, time_ns);
  }
};

// Dumps tell times that need no zone; texts do not.
std::map<host::Attempt, Span> SpansOf(const Model& model) {
  std::map<host::Attempt, Span> spans;
  const auto& ops = model.tables.Get<CommOpTable>();
  for (size_t i = 0; i < ops.size(); ++i)
    spans[{ops.job[i], ops.attempt[i]}].Widen(ops.created_ns[i]);
  return spans;
}

using Place = std::tuple<std::string, int32_t, std::string>;  // host, number, else UUID or address

// The host of inputs that do not tell it: one that the path names, as gpu_n1.csv does.
class HostsOfPaths {
 public:
  HostsOfPaths(const Model& model, const host::GpuRanks& ranks) : ranks_(ranks) {
    const auto& inputs = model.tables.Get<InputTable>();
    for (size_t i = 0; i < inputs.size(); ++i)
      paths_[inputs.input[i]] = model.pools.Text(inputs.path[i]);
  }

  const std::string& Of(int32_t input, host::Attempt attempt) {
    auto [known, is_new] = hosts_.try_emplace(input);
    if (!is_new) return known->second;
    const std::string_view path = paths_[input];
    for (const std::string& name : ranks_.HostsOf(attempt)) {
      const size_t at = path.rfind(name);
      if (at == std::string_view::npos) continue;
      const size_t end = at + name.size();
      const bool begins = at == 0 || !IsPartOfName(path[at - 1]);
      if (begins && (end == path.size() || !IsPartOfName(path[end]))) known->second = name;
    }
    return known->second;
  }

 private:
  static bool IsPartOfName(char c) { return IsWord(c) && c != '_'; }

  const host::GpuRanks& ranks_;
  std::map<int32_t, std::string_view> paths_;
  std::map<int32_t, std::string> hosts_;
};

// Samples of one series follow each other: most rows are of the GPU and the metric of the row
// before.
class Gatherer {
 public:
  Gatherer(const Model& model, host::GpuRanks& ranks)
      : model_(model),
        table_(model.tables.Get<HostSampleTable>()),
        ranks_(ranks),
        hosts_(model, ranks) {}

  void Add(size_t row) {
    const bool of_gpu = table_.gpu[row] != kNone32 || table_.uuid[row] != StringId::kNone ||
                        table_.bus_id[row] != StringId::kNone;
    if (!of_gpu || table_.job[row] == kNone32) return;
    const Subject subject{table_.input[row],  table_.job[row],   table_.attempt[row],
                          table_.host[row],   table_.gpu[row],   table_.uuid[row],
                          table_.bus_id[row], table_.metric[row]};
    if (gpu_ == nullptr || subject != subject_) {
      subject_ = subject;
      gpu_ = &GpuOf(row);
      const std::string_view metric = UsedMetric(model_.pools.Text(table_.metric[row]));
      values_ = metric.empty() ? nullptr : &gpu_->metrics[metric];
    }
    ++gpu_->samples;
    if (values_ != nullptr)
      values_->push_back({table_.time_ns[row], table_.value[row], static_cast<int64_t>(row)});
  }

  std::map<host::Attempt, std::map<Place, Gpu>>& jobs() { return jobs_; }

 private:
  using Subject =
      std::tuple<int32_t, int32_t, int32_t, StringId, int32_t, StringId, StringId, StringId>;

  Gpu& GpuOf(size_t row) {
    const host::Attempt attempt(table_.job[row], table_.attempt[row]);
    std::string host(model_.pools.Text(table_.host[row]));
    if (host.empty()) host = hosts_.Of(table_.input[row], attempt);
    std::string uuid(model_.pools.Text(table_.uuid[row]));
    std::string bus(model_.pools.Text(table_.bus_id[row]));
    std::string rest = table_.gpu[row] != kNone32 ? "" : uuid.empty() ? bus : uuid;
    Gpu& gpu = jobs_[attempt][{host, table_.gpu[row], std::move(rest)}];
    ranks_.AddSeen(attempt, host, table_.gpu[row]);
    gpu.host = std::move(host);
    gpu.number = table_.gpu[row];
    if (gpu.uuid.empty()) gpu.uuid = std::move(uuid);
    if (gpu.bus_id.empty()) gpu.bus_id = std::move(bus);
    return gpu;
  }

  const Model& model_;
  const HostSampleTable& table_;
  host::GpuRanks& ranks_;
  HostsOfPaths hosts_;
  std::map<host::Attempt, std::map<Place, Gpu>> jobs_;
  Subject subject_;
  Gpu* gpu_ = nullptr;
  Values* values_ = nullptr;
};

void SortSamples(Gpu& gpu) {
  for (auto& [metric, values] : gpu.metrics) {
    std::stable_sort(values.begin(), values.end(),
                     [](const Value& a, const Value& b) { return a.time_ns < b.time_ns; });
  }
}

// A ring of dumps is shorter than the job: its end counts, its begin only where samples would be of
// the day before.
void KeepSpan(const Span& span, Gpu& gpu) {
  constexpr int64_t kAfterNs = 1200LL * 1'000'000'000;
  if (span.end_ns == kNone64) return;
  for (auto& [metric, values] : gpu.metrics) {
    const bool reaches = std::any_of(values.begin(), values.end(), [&](const Value& each) {
      return each.time_ns != kNone64 && each.time_ns <= span.end_ns + kAfterNs;
    });
    if (!reaches) continue;
    std::erase_if(values, [&](const Value& each) {
      return each.time_ns != kNone64 && each.time_ns > span.end_ns + kAfterNs;
    });
  }
}

}  // namespace

const Values& Gpu::Of(std::string_view metric) const {
  static const Values kNoValues;
  const auto found = metrics.find(metric);
  return found == metrics.end() ? kNoValues : found->second;
}

const Values& Gpu::Utilization() const {
  const Values& told = Of("utilization");
  return told.empty() ? Of("engine_active") : told;
}

std::vector<GpusOfJob> CollectGpus(const Model& model) {
  host::GpuRanks ranks(model);
  Gatherer gatherer(model, ranks);
  const auto samples = model.tables.Get<HostSampleTable>().size();
  for (size_t row = 0; row < samples; ++row) gatherer.Add(row);
  auto& jobs = gatherer.jobs();
  const std::map<host::Attempt, Span> spans = SpansOf(model);
  std::vector<GpusOfJob> result;
  for (auto& [attempt, gpus] : jobs) {
    GpusOfJob& job = result.emplace_back(GpusOfJob{attempt, {}});
    const auto span = spans.find(attempt);
    for (auto& [place, gpu] : gpus) {
      if (ranks.IsElsewhere(attempt, gpu.host)) continue;
      gpu.rank = ranks.RankOf(attempt, gpu.host, gpu.number, gpu.bus_id);
      SortSamples(gpu);
      if (span != spans.end()) KeepSpan(span->second, gpu);
      job.gpus.push_back(std::move(gpu));
    }
  }
  return result;
}

const Value* ValueAt(const Values& values, int64_t time_ns, size_t position) {
  if (values.empty()) return nullptr;
  if (time_ns == kNone64) return position < values.size() ? &values[position] : nullptr;
  const auto after =
      std::upper_bound(values.begin(), values.end(), time_ns,
                       [](int64_t time, const Value& each) { return time < each.time_ns; });
  return after == values.begin() ? nullptr : &*std::prev(after);
}

std::string GpuAsSubject(const Gpu& gpu) {
  if (gpu.rank != kNone32) return fmt::format("Rank {}'s GPU", gpu.rank);
  std::string name = gpu.number != kNone32 ? fmt::format("GPU {}", gpu.number)
                     : gpu.uuid.empty()    ? fmt::format("The GPU at {}", gpu.bus_id)
                                           : gpu.uuid;
  if (!gpu.host.empty()) name += fmt::format(" of {}", gpu.host);
  return name;
}

}  // namespace debrief::analyses::host_gpus
