// Which rank a GPU or a process is, by what NCCL prints and by where the ranks ran.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::host {

using Attempt = std::pair<int32_t, int32_t>;  // job and attempt

// The name of a host up to its first dot, which tools leave out or not; addresses stay whole.
std::string_view ShortHost(std::string_view host);

class GpuRanks {
 public:
  explicit GpuRanks(const Model& model);

  // GPUs that a monitor saw on a host: where there are as many as ranks, they have their order.
  void AddSeen(Attempt attempt, std::string_view host, int32_t gpu);

  // kNone32 when nothing tells, or when what tells contradicts itself.
  int32_t RankOf(Attempt attempt, std::string_view host, int32_t gpu,
                 std::string_view bus_id) const;
  int32_t RankOfProcess(Attempt attempt, std::string_view host, int64_t pid) const;

  // The job runs on other hosts: it is known where all of its ranks are, and a monitor saw some of
  // them. Exports of a cluster have the GPUs of other jobs as well.
  bool IsElsewhere(Attempt attempt, std::string_view host) const;

  // Hosts that inputs of the attempt name.
  const std::set<std::string>& HostsOf(Attempt attempt) const;

 private:
  struct Job {
    std::set<std::string> hosts;
    std::map<std::pair<std::string, std::string>, int32_t> by_bus;  // host and address
    std::map<std::pair<std::string, int32_t>, int32_t> by_gpu;      // host and CUDA number
    std::map<std::pair<std::string, int64_t>, int32_t> by_pid;
    std::map<std::string, std::set<int32_t>> ranks;  // by host; "" where it is not known
    std::map<std::string, std::set<int32_t>> seen;   // GPUs by host, as monitors call it
  };

  // The host as the job knows it; the only one where the monitor tells none, or spells it
  // otherwise.
  static std::string KnownHost(const Job& job, std::string_view host);
  static int32_t RankByOrder(const Job& job, int32_t world, const std::string& host,
                             std::string_view seen_as, int32_t gpu);
  int32_t WorldSizeOf(int32_t job) const;

  std::map<Attempt, Job> jobs_;
  std::map<int32_t, int32_t> sizes_;  // of the world, by job
};

}  // namespace debrief::analyses::host
