// What the names of events say, found once for each distinct name, and names without their numbers.
#pragma once

#include <cstdint>
#include <string>
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
  bool rdma : 1;             // "Rdma"
  bool sen_rdma : 1;         // "SenRdma"
  bool all_reduce : 1;       // "AllReduce"
  bool all_reduce_full : 1;  // "AllReduce_all_reduce"
  bool hcoll : 1;            // "HCOLL"
  // At the end.
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

// "_<digits>" and "-<digits>" become "_[N]": "add_[N] Cmpt Exec"; "max_pool2d" stays. For tables
// and viewers that group by name.
std::string WithPlaceholders(std::string_view name);

}  // namespace debrief::accel
