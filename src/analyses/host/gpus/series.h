// The samples of one GPU, by metric and in order of time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyses/host/gpu_ranks.h"
#include "model/model.h"

namespace debrief::analyses::host_gpus {

struct Value {
  int64_t time_ns = kNone64;
  double value = 0;
  int64_t row = 0;  // of host_sample
};
using Values = std::vector<Value>;

struct Gpu {
  std::string host;
  int32_t number = kNone32;
  std::string uuid, bus_id;
  int32_t rank = kNone32;
  int64_t samples = 0;
  std::map<std::string_view, Values> metrics;

  // Empty when it has none.
  const Values& Of(std::string_view metric) const;
  // Utilisation in percent, by whichever field tells it.
  const Values& Utilization() const;
};

struct GpusOfJob {
  host::Attempt attempt;
  std::vector<Gpu> gpus;
};

// In order of job, host and number; samples outside of the job's own time are left out where that
// is known by a clock that all share.
std::vector<GpusOfJob> CollectGpus(const Model& model);

// Of values in order of time: the last at or before `time_ns`; null when there is none. Where
// values have no times, the one at `position`.
const Value* ValueAt(const Values& values, int64_t time_ns, size_t position);

// "Rank 12's GPU", "GPU 3 of n2".
std::string GpuAsSubject(const Gpu& gpu);

}  // namespace debrief::analyses::host_gpus
