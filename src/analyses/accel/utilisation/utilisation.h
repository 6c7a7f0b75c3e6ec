// Tables of ideal cycles as the compilers of all ranks wrote them, and which of them was run.
//
//   rank 0   TTFT {bmm 12288, sub 0, ...}  ITL {bmm 768, ...}     a log has several tables
//   rank 1   TTFT {...}  ...                                      a log alone is of all ranks
//   bmm/perf/ideal_cycles.json, sub/perf/ideal_cycles.json ...    together one table, of all ranks
//
// Logs of the timeline's own job count, others only where it has none.
// Cost: linear in the rows of accel_ideal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/model.h"

namespace debrief::analyses::accel_utilisation {

struct IdealKernel {
  StringId category = StringId::kNone;
  int64_t cycles = 0;
};

struct IdealTable {
  StringId phase = StringId::kNone;
  bool autopilot = false;
  int64_t total_cycles = kNone64;
  std::unordered_map<StringId, IdealKernel> kernels;
};

class IdealTables {
 public:
  explicit IdealTables(const Model& model);

  // Of the tables that are meant for the rank, the one that lists most of what ran, and then the
  // one that lists least of what did not. `calls`: by kernel. Null when none lists any of it.
  const IdealTable* Choose(const Identity& who,
                           const std::unordered_map<StringId, int64_t>& calls) const;

 private:
  struct Log {
    int32_t job = kNone32, rank = kNone32;
    std::vector<IdealTable> tables;
  };
  const Log* LogOf(const Identity& who) const;

  std::vector<Log> logs_;  // in order of their names
  IdealTable single_files_;
};

// What one device of one timeline reached.
struct Utilisation {
  struct Kernel {
    std::string name;
    int64_t time_ns = 0, ideal_ns = 0;
    int64_t row = 0;  // of accel_utilisation
  };
  Identity who;
  bool autopilot = false;
  int64_t time_ns = 0, ideal_ns = 0;  // of all kernels; ideal of those that use the array
  int64_t total_row = 0;
  std::vector<Kernel> kernels;  // that use the array
};

void AddFindings(const std::vector<Utilisation>& devices, std::vector<Finding>& findings);

}  // namespace debrief::analyses::accel_utilisation
