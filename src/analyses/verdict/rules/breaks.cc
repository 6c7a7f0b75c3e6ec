// What follows from a rank that broke the job, beside those who wait for it.
#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_step.h"

namespace debrief::analyses::verdict {

// The rank that broke the job is often the one whose dump, log or profile is missing: the hole
// follows from the break. A hole of another rank stays what it is, something to look for.
void BreakExplainsHoles(Board& board) {
  std::vector<size_t> causes = board.RankedCauses();
  std::erase_if(causes, [&](size_t i) { return board.At(i).severity != Severity::kError; });
  for (size_t cause : causes) {
    for (std::string_view rule : {"coverage.missing_input", "flight.no_dump"}) {
      for (size_t hole : board.Find(rule)) {
        bool of_cause = hole != cause && board.At(hole).severity != Severity::kError &&
                        ContainsAll(board.At(cause).ranks, board.At(hole).ranks);
        if (of_cause && board.At(hole).role != Role::kConsequence) board.Fold(cause, hole);
      }
    }
  }
}

namespace {

bool Overlaps(const Board& board, const Window& wait, const Finding& finding) {
  const auto& steps = board.model().tables.Get<ProfileStepTable>();
  for (size_t row : RowsOf(finding, "profile_step")) {
    if (row >= steps.size()) continue;
    int64_t start = steps.start_ns[row];
    if (wait.OverlapWith(start, start + steps.duration_ns[row]) > 0) return true;
  }
  const auto& windows = board.model().tables.Get<ProfileBreakdownTable>();
  for (size_t row : RowsOf(finding, "profile_breakdown")) {
    if (row >= windows.size()) continue;
    if (wait.OverlapWith(windows.window_start_ns[row], windows.window_end_ns[row]) > 0) return true;
  }
  return false;
}

}  // namespace

// A step that was slow, or communication that nothing hides, in the time in which the others waited
// for the rank that broke the job follows from that.
void BreakExplainsSlowSteps(Board& board) {
  for (size_t cause : board.RankedCauses()) {
    if (board.At(cause).severity != Severity::kError) continue;
    Window wait = WaitOf(board, board.At(cause));
    if (!wait.known()) continue;
    for (std::string_view rule : {"profile.slow_step", "profile.exposed_communication"}) {
      for (size_t i : board.Find(rule)) {
        if (Overlaps(board, wait, board.At(i))) board.Fold(cause, i);
      }
    }
    return;
  }
}

}  // namespace debrief::analyses::verdict
