// Tables of ideal cycles (-c), one log or torch-spyre directory a rank: which belongs to which job,
// and what the kernels of each category took.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "accel/run.h"
#include "model/accel/compiler_log.h"

namespace debrief::accel {

struct CompilerInfo {
  std::vector<CompilerLog> logs;   // in the order of ranks; one log serves all
  std::vector<std::string> paths;  // of the logs, as they were given
  // Which log is a rank's: the first is that of the lowest rank that has kernels, and so on. The
  // reference takes the rank for the number of the log.
  ByValue<size_t> log_of_rank;

  // Null when there is none for this rank, or it has no table.
  const CompilerLog* LogOf(const Value& rank) const;
  bool HasTables() const;
};

// Every entry of the comma list is read; one that cannot be is a warning and an empty log.
CompilerInfo LoadCompilerInfo(const Options& options, Console& console);

// A table with the interned names of a run for keys.
class NamedTable {
 public:
  explicit NamedTable(const IdealTable& table) : table_(table) {}

  // Row of the kernel that runs under this name, -1 when the table has none. The name may end in
  // " Cmpt Exec".
  int32_t RowOf(StringId name, const Run& run);
  int32_t RowOf(std::string_view kernel) const;
  // Whether the table has the one row behind the other.
  bool Follows(int32_t first, int32_t second);

  const IdealTable& table() const { return table_; }

 private:
  const IdealTable& table_;
  std::unordered_map<StringId, int32_t> rows_;
  std::unordered_set<uint64_t> pairs_;
};

struct CategoryUse {
  std::string category;
  double time = 0;   // microseconds
  double ideal = 0;  // microseconds
  int64_t calls = 0;
  int64_t cycles = 0;  // counted by the device
};

// Of one rank and one table.
struct TableUse {
  Value pid;
  const IdealTable* table = nullptr;
  std::vector<CategoryUse> categories;  // StcdpHbm, other, those of the table, Total
  bool autopilot = false;

  CategoryUse& Of(std::string_view category);
};

// What PT utilisation a rank reached, weighted by time.
struct RankUtilization {
  double weighted = 0;  // sum of utilisation * duration
  double busy = 0;      // duration of kernels that use the array at all
  double idle = 0;      // duration of the others
};

struct Utilization {
  bool loaded = false;
  CompilerInfo info;
  // Per log and table; made when first asked for.
  std::map<const IdealTable*, std::unique_ptr<NamedTable>> tables;
  // By job and, where events have one, correlation.
  std::map<std::pair<uint32_t, int64_t>, size_t> chosen;  // index of the table in its log
  std::vector<TableUse> uses;
  ByValue<std::vector<size_t>> uses_of_pid;  // indices of uses
  ByValue<RankUtilization> ranks;
  size_t unknown_kernels = 0;
  size_t above_hundred = 0;
  bool has_ranks = false;  // log_of_rank is filled

  const CompilerInfo& Info(Run& run);
  // The same, and logs know their ranks.
  const CompilerInfo& Info(const EventList& events, Run& run);
  NamedTable& Table(const IdealTable& table);
  TableUse& Use(const Value& pid, const IdealTable& table, bool autopilot);
};

// The job of an event and its correlation; -1 where there is none.
std::pair<uint32_t, int64_t> JobKey(const Event& event, const Run& run);

// Which table of ideal cycles each kernel belongs to, where a log has several (prefill, decode).
//
// The kernels of a job, in the order of time, are cut into iterations (model/accel/iterations.h)
// and what lies between them; each piece takes the table that fits it best: that knows its kernels,
// has them in the same order, and whose ideal times are not above the measured ones. Where tables
// know the same kernels in the same order, the one with the higher ideal time that still fits wins:
// a decode table would fit a prefill, too.
//
// Cost: kernels times tables.

struct TableChoice {
  std::vector<uint32_t> table;  // by event; 0 where the event is no kernel
  size_t pieces = 0;
  size_t unclear_pieces = 0;  // of which no table knows half of the kernels
};

// Warns of logs that name none of the kernels that ran on their ranks.
void WarnOfStrangeLogs(const EventList& events, Utilization& state, Run& run);

TableChoice ChooseTables(const EventList& events, Utilization& state, Run& run);

}  // namespace debrief::accel
