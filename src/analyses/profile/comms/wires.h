// What the ranks of a group are connected by, and what that can carry.
//
// NCCL_DEBUG=INFO prints every connection; the slowest kind inside of a group is what its rings
// wait for. Without these lines ranks are known to share a node where the job has no more ranks
// than the node has devices, or else by their numbers, as launchers give them out. What a device
// moves to its peers is in ../peaks.def; what a network carries only the user can tell (--peak
// network=50).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyses/profile/comms/samples.h"
#include "analyses/profile/peaks.h"
#include "model/model.h"

namespace debrief::analyses::profile_comms {

struct Wire {
  std::string_view transport;  // empty when nothing tells
  double gbps = 0;             // in one direction; 0 when not known
  std::string_view from;       // where that is from
};

class Wires {
 public:
  explicit Wires(const Model& model);

  Wire Of(const Kind& kind) const;

 private:
  // Of one attempt of a job.
  struct Job {
    // Connections of each rank, by the size of the communicator.
    std::map<std::pair<int32_t, int32_t>, std::set<std::string_view>> transports;
    int32_t devices = 0;  // of a node, as profiles describe it
    int32_t world_size = 0;
    double link_gbps = 0;  // of the slowest device
  };

  void AddLinks();
  void AddDevices();
  std::string_view TransportOf(const Job& job, const Kind& kind) const;
  bool ShareNode(const Job& job, const Kind& kind) const;

  const Model& model_;
  std::map<std::pair<int32_t, int32_t>, Job> jobs_;
  double told_link_ = 0, told_network_ = 0;  // by the user
};

}  // namespace debrief::analyses::profile_comms
