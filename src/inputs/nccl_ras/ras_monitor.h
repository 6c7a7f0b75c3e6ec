// What `ncclras --monitor` prints while it runs: one event a line.
//
//   [2026-11-15 23:22:09] PEER_DEAD: Process 456 on node 10.0.0.2 managing GPU 0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "inputs/nccl_ras/answer.h"

namespace debrief::inputs::nccl_ras {

class RasMonitorParser {
 public:
  static bool IsEvent(std::string_view line);

  void Add(std::string_view line, int64_t number);
  // Who is dead or does not answer at the end, as one answer; false when there was no event.
  bool Finish(RasAnswer& answer) const;

 private:
  bool any_ = false;
  int64_t last_ns_ = kNone64;
  std::map<std::string, RasRank> peers_;  // by the text that names them
};

}  // namespace debrief::inputs::nccl_ras
