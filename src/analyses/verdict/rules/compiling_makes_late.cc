// A straggler that arrives last in many collectives, and compiles in that time for at least half of
// what it is late: the compiler is the reason. Where a finding about its compilations exists, that
// is the cause and the lateness follows; otherwise the straggler is told with what its compile log
// shows.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "base/text/units.h"
#include "tables/comm_arrival.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_rank.h"

namespace debrief::analyses::verdict {

namespace {

struct Lateness {
  Window when;
  int64_t total_ns = 0;
};

// From the first to the last operation to which it came late, and the longest delay before.
Lateness ByDumps(const Board& board, const Finding& straggler, int32_t rank) {
  Lateness late;
  const auto& ops = board.model().tables.Get<CommOpTable>();
  for (size_t row : RowsOf(straggler, "comm_op")) {
    if (row >= ops.size() || ops.rank[row] != rank || ops.created_ns[row] == kNone64) continue;
    late.when.Widen(ops.created_ns[row], ops.created_ns[row]);
  }
  const auto& arrivals = board.model().tables.Get<CommArrivalTable>();
  for (const size_t i : board.OwnRows(arrivals)) {
    bool ours = arrivals.rank[i] == rank && arrivals.late_longest_ns[i] != kNone64;
    if (!ours || !late.when.known()) continue;
    late.when.begin_ns -= arrivals.late_longest_ns[i];
    late.total_ns = arrivals.late_total_ns[i];
  }
  return late;
}

// The recording, and what the host took longer over all steps.
Lateness ByProfile(const Board& board, const Finding& straggler, int32_t rank) {
  Lateness late;
  const auto& ranks = board.model().tables.Get<ProfileRankTable>();
  for (const Evidence& evidence : straggler.evidence) {
    if (evidence.table != "profile_rank" || evidence.rows.empty()) continue;
    auto row = static_cast<size_t>(evidence.rows.front());
    if (row < ranks.size() && ranks.excess_host_ns[row] != kNone64)
      late.total_ns = ranks.excess_host_ns[row] * ranks.windows[row];
  }
  const auto& windows = board.model().tables.Get<ProfileBreakdownTable>();
  for (const size_t i : board.OwnRows(windows)) {
    if (windows.rank[i] == rank && !late.when.known())
      late.when = {windows.window_start_ns[i], windows.window_end_ns[i]};
  }
  return late;
}

// Time that `rank` compiles within the window.
int64_t CompilingIn(const Board& board, int32_t rank, const Window& window, int64_t& row) {
  const auto& compilations = board.model().tables.Get<CompilationTable>();
  int64_t total_ns = 0;
  for (const size_t i : board.OwnRows(compilations)) {
    bool ours = compilations.rank[i] == rank && compilations.start_ns[i] != kNone64;
    if (!ours) continue;
    int64_t overlap = window.OverlapWith(compilations.start_ns[i], compilations.end_ns[i]);
    if (overlap <= 0) continue;
    total_ns += overlap;
    row = static_cast<int64_t>(i);
  }
  return total_ns;
}

void Blame(Board& board, size_t straggler, int64_t compiling_ns, int64_t row) {
  std::string text = fmt::format("it compiles for {} of the time in which it comes late",
                                 DurationInWords(compiling_ns));
  board.At(straggler).evidence.push_back({text, "compilation", {row}});
  board.At(straggler).why += "; " + text;
  for (size_t i : board.Find("compile.")) {
    if (board.At(i).ranks != board.At(straggler).ranks) continue;
    if (board.At(i).role == Role::kConsequence || !board.Fold(i, straggler)) continue;
    board.At(i).role = Role::kCause;
    board.Support(i, board.At(straggler).confidence, "it comes late to collectives in that time");
    return;
  }
}

}  // namespace

void CompilingMakesLate(Board& board) {
  for (std::string_view rule : {"profile.straggler", "flight.straggler"}) {
    for (size_t straggler : board.FindCauses(rule)) {
      const Finding& finding = board.At(straggler);
      if (finding.ranks.size() != 1) continue;
      int32_t rank = finding.ranks.front();
      Lateness late = rule == "flight.straggler" ? ByDumps(board, finding, rank)
                                                 : ByProfile(board, finding, rank);
      if (!late.when.known() || late.total_ns <= 0) continue;
      int64_t row = 0;
      int64_t compiling_ns = CompilingIn(board, rank, late.when, row);
      if (compiling_ns * 2 >= late.total_ns) Blame(board, straggler, compiling_ns, row);
    }
  }
}

}  // namespace debrief::analyses::verdict
