// Counting collectives in a schedule and in generated Python code.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace debrief::analyses::compile_parity {

// The kinds that are told apart, in the order in which they are looked for in the name of an op.
inline constexpr std::array<std::string_view, 6> kCollectives = {
    "all_reduce", "reduce_scatter", "all_gather", "broadcast", "all_to_all", "reduce"};

struct CollectiveCounts {
  std::array<int64_t, kCollectives.size()> by_kind = {};
  int64_t waits = 0;

  // `op` is all_reduce_ or torch.ops._c10d_functional.all_reduce_.default.
  void Add(std::string_view op);
  int64_t total() const;
};

// Calls torch.ops._c10d_functional.<op>.default( in `code`, or of c10d_functional, not those in
// comments and strings. One pass.
CollectiveCounts CountCalls(std::string_view code);

}  // namespace debrief::analyses::compile_parity
