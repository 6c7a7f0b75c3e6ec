// What --comm_summarize_seq knows about the steps of one send or receive.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accel/passes/helpers.h"

namespace debrief::accel {

struct CommunicationGroup {
  size_t members = 0;
  size_t seen = 0;  // by communication_event_apply
  double start = 0, end = 0;
  std::string prefix;  // that all names share
  std::vector<std::string> peers;
};

struct CommunicationGroups {
  std::map<std::pair<uint32_t, int64_t>, CommunicationGroup> by_key;
};

// Job and sequence number of a step ("SenRdmaSend_82233 - Xseg ..." has 82233); null when the event
// is none.
std::optional<std::pair<uint32_t, int64_t>> StepKey(const Event& event, Run& run);

// The ranks that an event talks to: "1", "0,1,2" or a list.
std::vector<std::string> PeersOf(const Event& event, const Run& run);

}  // namespace debrief::accel
