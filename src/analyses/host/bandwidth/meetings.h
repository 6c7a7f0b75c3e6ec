// Operations of NCCL Inspector put together: by process and kind, and by collective.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyses/host/gpu_ranks.h"
#include "model/model.h"

namespace debrief::analyses::host_bandwidth {

struct Process {
  std::string host;
  int64_t pid = kNone64;
  int32_t gpu = kNone32;
  int32_t rank = kNone32;
  int64_t last_row = kNone64;  // of nccl_perf, by time
  int64_t last_ns = kNone64;
};

// Operations of one process that can be compared with each other.
struct KindKey {
  StringId comm = StringId::kNone, name = StringId::kNone, op = StringId::kNone,
           range = StringId::kNone;
  int32_t process = 0, peer = kNone32, size_bits = kNone32;
  auto operator<=>(const KindKey&) const = default;
};
struct Kind {
  int32_t comm_size = kNone32, nodes = kNone32;
  std::vector<int64_t> rows;  // of nccl_perf
  int64_t met = 0, arrived_last = 0, others_waited_ns = 0;
};

// How often a process came last to collectives that all members wait in.
struct Lateness {
  int64_t met = 0, last = 0;
  int64_t others_waited_ns = 0;
  int64_t time_ns = 0;  // of all collectives, as the others saw them
  std::vector<int64_t> rows;
};

struct Record {
  host::Attempt attempt;
  std::vector<Process> processes;
  std::map<KindKey, Kind> kinds;
  std::vector<Lateness> lateness;  // by process
};

std::vector<Record> CollectRecords(const Model& model);

}  // namespace debrief::analyses::host_bandwidth
