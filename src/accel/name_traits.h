// What the name of an event tells, found once for each distinct name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/pools/string_pool.h"

namespace debrief::accel {

struct NameTraits {
  // Contained anywhere.
  bool cmpt_exec : 1;        // "Cmpt Exec"
  bool prep : 1;             // " Prep"
  bool sp_dma_in : 1;        // " DmaI"
  bool sp_dma_out : 1;       // " DmaO"
  bool sp_cmpt_prep : 1;     // " Cmpt Prep"
  bool sp_cmpt_exec : 1;     // " Cmpt Exec"
  bool rdma : 1;             // "Rdma"
  bool sen_rdma : 1;         // "SenRdma"
  bool all_reduce : 1;       // "AllReduce"
  bool all_reduce_full : 1;  // "AllReduce_all_reduce"
  bool aiu_roundtrip : 1;    // "AIU Roundtrip"
  bool barrier : 1;          // "barrier:" or "Barrier:"
  bool hcoll : 1;            // "HCOLL"
  // At the end.
  bool ends_dma_in : 1;     // "DmaI"
  bool ends_dma_out : 1;    // "DmaO"
  bool ends_cmpt_prep : 1;  // "Cmpt Prep"
  bool ends_cmpt_exec : 1;  // "Cmpt Exec"
};

NameTraits TraitsOf(std::string_view name);

// Not for several threads.
class NameTraitsCache {
 public:
  explicit NameTraitsCache(const StringPool& strings) : strings_(strings) {}
  NameTraits Of(StringId name);

 private:
  const StringPool& strings_;
  std::vector<NameTraits> traits_;
  std::vector<bool> known_;
};

}  // namespace debrief::accel
