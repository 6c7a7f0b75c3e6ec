// What is known of a running job, from the lines it printed so far: steps, exits, recompilations,
// silence. Memory grows with the number of ranks, not with the text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pools/ids.h"
#include "inputs/job_text/line_class.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief::watch {

struct RankState {
  int64_t step = kNone64;
  double step_s = 0;            // time of a step, smoothed; 0: not known
  int64_t step_ns = kNone64;    // when the step came
  int64_t output_ns = kNone64;  // when the rank last printed anything
  int32_t exit_code = kNone32;
  uint64_t recompiles = 0;
  bool is_silent = false;  // and that was said
};

// Something worth a line.
struct Event {
  std::string_view kind;  // trouble, exit, silence, restart, end
  int32_t rank = kNone32;
  std::string text;
};

// Where a line stands.
struct LineSource {
  int32_t rank = kNone32;  // of the file; none when it has lines of several
  PrefixStyle style;
  bool is_compile_log = false;
};

class JobState {
 public:
  explicit JobState(double silence_s) : silence_ns_(static_cast<int64_t>(silence_s * 1e9)) {}

  void AddLine(const LineSource& source, std::string_view line, int64_t now_ns);
  // A file of this rank grew, whatever is in it.
  void AddGrowth(int32_t rank, int64_t now_ns);
  void AddRestart(int32_t attempt);
  // Finds ranks that are silent.
  void Tick(int64_t now_ns);

  // Since the last call.
  std::vector<Event> TakeEvents();

  const std::map<int32_t, RankState>& ranks() const { return ranks_; }
  int64_t last_step() const { return last_step_; }
  // Ranks whose last step is two or more behind, or whose steps take much longer than the others'.
  std::vector<int32_t> Stragglers() const;
  uint64_t recompiles() const;
  size_t exits() const;
  uint64_t troubles() const { return troubles_; }
  // When a line last said that something broke; none: never.
  int64_t trouble_ns() const { return trouble_ns_; }
  int64_t growth_ns() const { return growth_ns_; }
  // The launcher's closing line was read, or every rank that is known has exited.
  bool has_ended() const { return is_closed_ || HaveAllExited(); }

 private:
  RankState* RankOf(int32_t rank);
  void AddProgress(int32_t rank, std::string_view text, int64_t now_ns);
  void AddCompileLine(const LineSource& source, std::string_view line);
  void AddTrouble(inputs::job_text::LineClass what, int32_t rank, std::string_view text,
                  int64_t now_ns);
  void AddExit(int32_t rank, std::string_view text);
  bool HaveAllExited() const;

  int64_t silence_ns_;
  std::map<int32_t, RankState> ranks_;
  std::vector<Event> events_;
  std::map<int, uint64_t> said_;  // troubles by class, since the last calm
  int64_t last_step_ = kNone64;
  uint64_t troubles_ = 0;
  uint64_t loose_recompiles_ = 0;  // of no rank
  int64_t trouble_ns_ = kNone64;
  int64_t growth_ns_ = kNone64;
  int32_t attempt_ = 0;
  bool is_closed_ = false;
  bool all_silent_ = false;
};

}  // namespace debrief::watch
