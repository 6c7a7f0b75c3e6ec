// What a compiler of the accelerator says about ideal cycles: tables of kernels, one a program.
//
//             PREFILL                                  phase of the tables that follow
//   ~~~~ Ideal/Total Cycles ~~~~                       a table begins
//   Name                              Ideal Cy.
//   sub_1-opCatBroadcast                 0             kernel sub_1, category Broadcast
//   bmm-BMM_1-opCatBmm_fp16              12288
//   layernorm_1-NA                       0             category NotAvailable
//   foo-LxPreload-opCatStcdpLx           5             not a kernel of its own: skipped
//   Total                                12288
//   ====== Perf Summary End ======                     it ends
//
// "DSM-AutoPilot BEGIN" anywhere: the device ran whole programs by itself, and only totals mean
// anything. Torch-spyre writes a file a kernel instead, <kernel>/perf/ideal_cycles.json:
//   [{"ideal_cycles": 12288, "op_category": "Bmm_fp16"}, ...]
//
// Cost: linear in the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace debrief::accel {

struct IdealKernel {
  std::string name;  // without " Cmpt Exec"
  std::string category;
  int64_t cycles = 0;  // 0: none known
};

struct IdealTable {
  std::string phase = "UNKN";                       // TTFT, ITL, UNKN
  std::vector<IdealKernel> kernels;                 // in the order of the log, each name once
  std::vector<std::string> categories;              // in the order of first sight
  std::vector<uint32_t> sequence;                   // every row in order: index into kernels
  int64_t total_cycles = 0;                         // as the log says; where it does not, the sum
  std::unordered_map<std::string, size_t> by_name;  // index into kernels

  const IdealKernel* Find(std::string_view kernel) const;
};

struct CompilerLog {
  std::vector<IdealTable> tables;
  bool autopilot = false;
  std::vector<std::string> warnings;
};

// The reference's results differ: a "Total" whose number stands behind tabs is not seen, one behind
// blanks is a kernel of category Total, and so is every name without a category.
enum class LogRules : uint8_t { kRight, kReference };

CompilerLog ParseCompilerLog(std::string_view text, LogRules rules);

// Adds one kernel of a torch-spyre directory. All cycles of its list are summed; the reference
// takes the first number that is not 0.
Status AddIdealCycles(std::string_view kernel, std::string_view json, LogRules rules,
                      IdealTable& table);

}  // namespace debrief::accel
