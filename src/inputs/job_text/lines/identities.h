// Lines that say which process is which rank.
//
//   vm:1327:1327 [0] NCCL INFO ncclCommInitRankConfig comm 0x15 rank 1 nranks 8 cudaDev 0 nvmlDev 0
//     busId 60 commId 0xd6 - Init COMPLETE          (or Init START)
//   - (node_id=ab, ip=10.0.0.2, pid=4711) world_rank=3, local_rank=1, node_rank=1     Ray
//   Initializing distributed: GLOBAL_RANK: 3, MEMBER: 4/8                             Lightning
//   rank 3 in world size 8 is assigned as DP rank 0, PP rank 0, TP rank 3             vLLM
//   nnodes=2, num_local_procs=4, node_rank=1                                          DeepSpeed
//   Killing subprocess 4711                          DeepSpeed: one a process, in order of local
//   rank
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief::inputs::job_text {

struct IdentityLine {
  std::string_view said_by;
  int32_t rank = kNone32;  // global, where the line says so
  int32_t local_rank = kNone32;
  std::string_view host;
  int64_t pid = kNone64;
  int32_t gpu = kNone32;
  std::string_view bus_id;
  int32_t group_rank = kNone32;
  int32_t group_size = kNone32;
  std::string_view comm;  // the communicator, as NCCL calls it
  bool set_up = true;     // false: its set-up begins
  bool is_next = false;   // its local rank is one more than that of the line before of its kind
};

std::optional<IdentityLine> ParseIdentity(std::string_view text);

}  // namespace debrief::inputs::job_text
