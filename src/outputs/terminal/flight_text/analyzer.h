// PyTorch's analyzer, rebuilt: it matches the entries of all ranks greedily, beginning with the
// first rank, which is always taken to be right, and says what does not fit.
//
// It is here for --compat and for tests. Our own verdict comes from analyses/flight, which votes,
// aligns per group and tells causes from consequences. Cost is the analyzer's: every entry scans
// past the entries of other groups, O(ranks x entries^2) at worst, though on small integers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "outputs/output.h"
#include "outputs/terminal/flight_text/dumps.h"

namespace debrief::outputs::flight_text {

// One line of the analyzer's log a call.
class Log {
 public:
  Log(TextSink& sink, bool verbose) : sink_(&sink), verbose_(verbose) {}
  void Info(std::string_view line) const {
    sink_->Write(line);
    sink_->Write("\n");
  }
  void Debug(std::string_view line) const {
    if (verbose_) Info(line);
  }
  bool verbose() const { return verbose_; }

 private:
  TextSink* sink_;
  bool verbose_;
};

// An entry of another rank that does not fit.
struct Misfit {
  int32_t rank = 0;
  Entry entry;
  MatchInfo info;
};

struct Collective {
  int32_t id = 0;
  Entry entry;  // of the first rank
  bool pass_check = true;
  PythonSet expected;
  std::optional<PythonSet> missing;
  int64_t input_numel = kNone64;  // of all ranks, where an all_to_all does not add up
  int64_t output_numel = kNone64;
  std::vector<Misfit> misfits;
};

struct NcclCall {
  int32_t id = 0;
  int32_t collective = kNone32;  // none: not matched
  int32_t rank = 0;
  Entry entry;     // of the first rank, as the analyzer has it
  size_t row = 0;  // of comm_op: the rank's own entry
};

struct Database {
  std::vector<Collective> collectives;
  std::vector<NcclCall> calls;
};

// The block of lines about one collective: headline, group, sizes, who is missing or wrong, stack.
void WriteBlock(const Model& model, std::string_view headline, const Collective& collective,
                const Log& log);

// Runs the analyzer. What it raises comes back as the Status; the log has what it said before.
Result<Database> Analyze(const Model& model, const Dumps& dumps, int64_t mismatch_cap,
                         const Log& log);

}  // namespace debrief::outputs::flight_text
