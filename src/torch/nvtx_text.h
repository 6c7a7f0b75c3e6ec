// What the text of an NVTX or roctx range tells. PyTorch's emit_nvtx writes an op with what is
// known of it, NCCL the name of its function with a payload that Nsight Systems shows as JSON:
//
//   aten::addmm, seq = 12, op_id = 34, sizes = [[8], [8, 4], [4, 8]], input_op_ids = [(31,0)]
//   ncclAllReduce        {"Message size [bytes]": 4096, ...}
#pragma once

#include <cstdint>
#include <string_view>

#include "base/pools/ids.h"

namespace debrief {

struct NvtxText {
  std::string_view name;    // without what follows it
  std::string_view shapes;  // JSON; empty when not told
  int64_t sequence = kNone64;
  bool is_op = false;  // an op of PyTorch; else an annotation of a person or a library
};
NvtxText ReadNvtxText(std::string_view text);

// A function of NCCL that moves data, by its range in NCCL's domain.
bool IsNcclRange(std::string_view domain, std::string_view name);

// The number behind a key of a payload; none when it has no such key.
int64_t PayloadNumber(std::string_view json, std::string_view key);

}  // namespace debrief
