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

bool RowOverlaps(const Board& board, const Window& wait, std::string_view table, size_t row) {
  if (table == "profile_step") {
    const auto& steps = board.model().tables.Get<ProfileStepTable>();
    return row < steps.size() &&
           wait.OverlapWith(steps.start_ns[row], steps.start_ns[row] + steps.duration_ns[row]) > 0;
  }
  if (table != "profile_breakdown") return false;
  const auto& windows = board.model().tables.Get<ProfileBreakdownTable>();
  return row < windows.size() &&
         wait.OverlapWith(windows.window_start_ns[row], windows.window_end_ns[row]) > 0;
}

bool Overlaps(const Board& board, const Window& wait, const Finding& finding) {
  for (const Evidence& evidence : finding.evidence) {
    for (int64_t row : evidence.rows) {
      if (RowOverlaps(board, wait, evidence.table, static_cast<size_t>(row))) return true;
    }
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
