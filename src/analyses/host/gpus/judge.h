// What the samples of GPUs say: each question looks at the GPUs of one attempt of a job.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/host/gpus/series.h"
#include "model/model.h"

namespace debrief::analyses::host_gpus {

// A GPU that ran slower than it should.
struct Throttling {
  double busy_mhz = kNoDouble;   // middle clock while it was busy
  double peers_mhz = kNoDouble;  // the same of its peers
  double low_mhz = kNoDouble;    // middle clock from `from` on; none when it is not low
  double usual_mhz = kNoDouble;  // what it should have been
  size_t from = 0;               // sample of sm_clock
  bool lasts = false;            // until the end
  std::string reasons;           // "thermal throttling"
  bool is_sure = false;          // the GPU itself says why

  bool is_low() const { return low_mhz > 0; }
};

// One for each GPU, in their order.
std::vector<Throttling> FindThrottling(const std::vector<Gpu>& gpus);

// A fault that a GPU reported while it was watched, and the sample in which it did.
struct ReportedFault {
  int64_t code = 0;
  const Value* sample = nullptr;
};
std::optional<ReportedFault> FindXid(const Gpu& gpu);

// Findings, each with rows of host_sample as evidence.
void ReportThrottling(const GpusOfJob& job, const std::vector<Throttling>& found,
                      std::vector<Finding>& findings);
void ReportFaults(const GpusOfJob& job, std::vector<Finding>& findings);
void ReportIdle(const GpusOfJob& job, std::vector<Finding>& findings);
void ReportHeatAndMemory(const GpusOfJob& job, const std::vector<Throttling>& throttled,
                         std::vector<Finding>& findings);

// The last time at which it was busy; none when no sample tells.
int64_t BusyUntil(const Gpu& gpu);

// The largest part of its memory that was in use; none when no sample tells.
double LargestMemoryShare(const Gpu& gpu);

// A finding about `gpu`.
Finding NewFinding(const GpusOfJob& job, const Gpu& gpu, std::string_view rule);

// " from 02:31 on", or nothing where samples have no times.
std::string FromTime(int64_t time_ns);

}  // namespace debrief::analyses::host_gpus
