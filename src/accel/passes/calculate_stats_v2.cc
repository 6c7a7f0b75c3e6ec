// calculate_stats_v2 (-R): <stem>_stats_summary.csv, how long each rank computes and communicates.
//
// The reference looks for collectives by a name that they have no more; its columns of
// communication are empty.
#include <algorithm>

#include "accel/passes/helpers.h"
#include "accel/passes/passes.h"
#include "accel/python_text.h"

namespace debrief::accel {
namespace {

struct RankTimes {
  double start = 0, end = 0;
  double compute = 0, communicate = 0;
  size_t kernels = 0, collectives = 0;
};

void Widen(RankTimes& rank, const Event& event) {
  const bool is_first = rank.kernels + rank.collectives == 0;
  rank.start = is_first ? event.ts : std::min(rank.start, event.ts);
  rank.end = is_first ? event.end() : std::max(rank.end, event.end());
}

// Slices of collectives lie on the host's process.
Value DevicePid(const Event& event) {
  return event.pid.IsInteger() && event.pid.integer >= 1000
             ? Value::Integer(event.pid.integer - 1000)
             : event.pid;
}

void AppendRow(std::string& text, const Value& pid, const RankTimes& rank, const Run& run) {
  const double elapsed = rank.end - rank.start;
  const auto number = [&](double value, bool known) {
    text += ',';
    if (known) AppendPythonFloat(text, value);
  };
  const bool communicates = rank.collectives > 0;
  text += pid.AsText(run.strings);
  number(elapsed, true);
  number(rank.compute, true);
  number(rank.communicate, communicates);
  number(elapsed > 0 ? rank.compute / elapsed : 0, true);
  number(elapsed > 0 ? rank.communicate / elapsed : 0, communicates);
  text += '\n';
}

}  // namespace

void CalculateStatsV2(EventList& events, Run& run) {
  ByValue<RankTimes> ranks;
  for (const Event& event : events) {
    if (event.phase != 'X') continue;
    if (run.Traits(event).cmpt_exec) {
      RankTimes& rank = ranks[event.pid];
      Widen(rank, event);
      rank.compute += event.dur;
      rank.kernels += 1;
    } else if (!run.options.compat && event.Has(key::kCollDataSize)) {
      RankTimes& rank = ranks[DevicePid(event)];
      Widen(rank, event);
      rank.communicate += event.dur;
      rank.collectives += 1;
    }
  }
  std::string text =
      "pid,elapsed_time,comp_active_atime,comm_active_atime,comp_active_atime_perc,"
      "comm_active_atime_perc\n";
  for (const auto& [pid, rank] : ranks) AppendRow(text, pid, rank, run);
  run.side_files.push_back({SidePath(run.options, "stats_summary", "csv"), std::move(text)});
}

}  // namespace debrief::accel
