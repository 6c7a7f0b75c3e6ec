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
  const auto& table = model.tables.Get<HostSampleTable>();
  host::GpuRanks ranks(model);
  HostsOfPaths hosts(model, ranks);
  std::map<host::Attempt, std::map<Place, Gpu>> jobs;
  for (size_t i = 0; i < table.size(); ++i) {
    const bool of_gpu = table.gpu[i] != kNone32 || table.uuid[i] != StringId::kNone ||
                        table.bus_id[i] != StringId::kNone;
    if (!of_gpu || table.job[i] == kNone32) continue;
    const host::Attempt attempt(table.job[i], table.attempt[i]);
    std::string host(model.pools.Text(table.host[i]));
    if (host.empty()) host = hosts.Of(table.input[i], attempt);
    std::string uuid(model.pools.Text(table.uuid[i])), bus(model.pools.Text(table.bus_id[i]));
    std::string rest = table.gpu[i] != kNone32 ? "" : uuid.empty() ? bus : uuid;
    Gpu& gpu = jobs[attempt][{host, table.gpu[i], std::move(rest)}];
    if (gpu.samples++ == 0) {
      ranks.AddSeen(attempt, host, table.gpu[i]);
      gpu.host = std::move(host);
      gpu.number = table.gpu[i];
    }
    if (gpu.uuid.empty()) gpu.uuid = std::move(uuid);
    if (gpu.bus_id.empty()) gpu.bus_id = std::move(bus);
    const std::string_view metric = UsedMetric(model.pools.Text(table.metric[i]));
    if (!metric.empty())
      gpu.metrics[metric].push_back({table.time_ns[i], table.value[i], static_cast<int64_t>(i)});
  }
  const std::map<host::Attempt, Span> spans = SpansOf(model);
  std::vector<GpusOfJob> result;
  for (auto& [attempt, gpus] : jobs) {
    GpusOfJob& job = result.emplace_back(GpusOfJob{attempt, {}});
    const auto span = spans.find(attempt);
    for (auto& [place, gpu] : gpus) {
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
