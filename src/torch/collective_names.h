// One word for each kind of communication, whoever names it.
//
//   allreduce, c10d::allreduce_, ncclDevKernel_AllReduce_Sum_f32_RING_LL, all_reduce_coalesced
//   --> all_reduce
#pragma once

#include <string_view>

namespace debrief::timeline {

// Empty when the name tells of no communication.
std::string_view PlainOp(std::string_view name);

// As PyTorch's users call it: reduce_scatter for the inner _reduce_scatter_base, all_reduce for
// ALLREDUCE of the watchdog; other names stay as they are (all_reduce_barrier).
std::string_view PublicOp(std::string_view name);

// Metadata of ops that move nothing: waiting, setting up, brackets around coalesced ops.
bool IsBookkeeping(std::string_view name);

// Of these the larger of the input and the output is the size of the message.
bool IsGathering(std::string_view plain_op);

}  // namespace debrief::timeline
