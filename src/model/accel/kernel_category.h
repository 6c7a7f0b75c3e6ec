// What a kernel does, by its name: gemm, attention, norm, copy, collective ...
//
//   ("cuda", "void at::native::vectorized_elementwise_kernel<4, ...>", "aten::add") -> elementwise
//   ("rocm", "Cijk_Alik_Bljk_BBS_BH_...", "aten::mm")                               -> gemm
//   ("aiu", "addmm_1_MatMul-BMM_1 Cmpt Exec", "")                                   -> gemm
//
// The rules are data: data/kernel_categories/<vendor>.tsv, in order, and for vendors that run
// PyTorch's own kernels common.tsv behind it. Patterns have * for anything and nothing else, so
// that a rule costs a search for a few words; a name is asked about once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/pools/ids.h"

namespace debrief::accel {

inline constexpr std::string_view kOtherCategory = "other";

struct CategoryRule {
  enum class Where : uint8_t { kKernel, kOp };
  Where where;
  std::string_view pattern;  // lower case
  std::string_view category;
};

struct CategoryRules {
  std::string_view vendor;  // of the file; "common" is of all
  std::span<const CategoryRule> rules;
};

// Of the data files, in order of their names.
std::span<const CategoryRules> AllCategoryRules();

// "NVIDIA H200" -> cuda, "AMD Instinct MI300X" -> rocm; empty when the name does not tell.
std::string_view VendorOfDevice(std::string_view device);

// By a call of its runtime: "cudaLaunchKernel" -> cuda, "hipLaunchKernel" -> rocm.
std::string_view VendorOfCall(std::string_view call);

// `vendor`: the name of a data file; empty: not known, all files are tried. `op`: the op that
// launched the kernel, empty when not known.
std::string_view CategoryOf(std::string_view vendor, std::string_view kernel, std::string_view op);

// Whether `text` (lower case) is what the pattern says.
bool FitsPattern(std::string_view pattern, std::string_view text);

// Answers for ids of one vendor, each worked out once.
class CategoryCache {
 public:
  CategoryCache(const Pools& pools, std::string_view vendor) : pools_(pools), vendor_(vendor) {}
  std::string_view Of(StringId kernel, StringId op);

 private:
  const Pools& pools_;
  std::string_view vendor_;
  std::unordered_map<uint64_t, std::string_view> known_;
};

}  // namespace debrief::accel
