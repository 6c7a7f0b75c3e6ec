// What `sacct` prints: jobs and their steps, as JSON, with bars between the columns, or as a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "base/status.h"

namespace debrief::inputs::slurm_accounting {

struct Account {
  int64_t line = kNone64;
  std::string job;
  std::string step;  // "0", "batch"; empty for the job itself
  std::string name;
  std::string state;  // the whole word, also where the table cut it
  int32_t exit_code = kNone32;
  std::string nodes;
  int64_t start_ns = kNone64, end_ns = kNone64;
  std::string reason;
};

// The JSON of Slurm 21.08 and later; `accounts` keeps what stands before a break. `text` has
// kPadding readable bytes behind it.
Status ReadAccountJson(std::string_view text, std::vector<Account>& accounts);

class AccountSheet {
 public:
  // "JobID|JobName|State|ExitCode", or the same with blanks between.
  static bool IsHead(std::string_view line);
  // "JobId=17 JobName=train", as `scontrol show job` begins.
  static bool IsJobHead(std::string_view line);

  // False when the line is no row.
  bool Add(std::string_view line, int64_t number, std::vector<Account>& accounts);

 private:
  std::vector<std::string_view> Cells(std::string_view line) const;
  static void AddFields(std::string_view line, int64_t number, std::vector<Account>& accounts);

  char separator_ = 0;
  bool is_job_ = false;  // of scontrol
  std::vector<std::string> columns_;
  std::vector<size_t> widths_;  // of a table
};

}  // namespace debrief::inputs::slurm_accounting
