// Ranks that come late, and what follows from that.
#include <fmt/format.h>

#include <algorithm>

#include "analyses/verdict/rules.h"
#include "tables/profile_breakdown.h"
#include "tables/profile_idle.h"
#include "tables/profile_rank.h"

namespace debrief::analyses::verdict {

// A dump shows a straggler, a profile shows it too and why. When both
// blame one rank the profile is told, surer for the dump; the dump's finding follows from it.
void OneStraggler(Board& board) {
  for (size_t profile : board.FindCauses("profile.straggler")) {
    for (size_t dump : board.FindCauses("flight.straggler")) {
      if (board.At(profile).ranks != board.At(dump).ranks) continue;
      if (!board.Fold(profile, dump)) continue;
      board.Support(profile, board.At(dump).confidence, "the dumps show the same rank late");
      const Finding& late = board.At(dump);
      if (!late.evidence.empty())
        board.At(profile).evidence.push_back(
            {late.headline, late.evidence[0].table, late.evidence[0].rows});
    }
  }
}

namespace {

constexpr double kFelt = 0.25;

struct Excess {
  std::string_view reason;
  int64_t total_ns = 0;  // over all its steps
};

bool FindExcess(const Board& board, const Finding& straggler, Excess& excess) {
  const auto& ranks = board.model().tables.Get<ProfileRankTable>();
  const std::vector<size_t> told = RowsOf(straggler, "profile_rank");
  if (told.empty() || told[0] >= ranks.size()) return false;
  size_t row = told[0];
  excess.reason = board.model().pools.Text(ranks.reason[row]);
  int64_t a_step_ns = std::max({ranks.excess_host_ns[row], ranks.excess_compute_ns[row],
                                ranks.excess_data_ns[row], int64_t{0}});
  // Delays that come in some steps only leave no trace in medians.
  excess.total_ns = std::max(a_step_ns * ranks.windows[row], ranks.own_delay_ns[row]);
  return true;
}

// Exposed communication of the timeline that the finding is about.
int64_t ExposedNs(const Board& board, const Finding& finding) {
  const auto& rows = board.model().tables.Get<ProfileBreakdownTable>();
  const std::vector<size_t> told = RowsOf(finding, "profile_breakdown");
  return told.empty() || told[0] >= rows.size() ? 0 : rows.exposed_communication_ns[told[0]];
}

void ExplainCommunication(Board& board, size_t straggler, const Excess& excess) {
  for (size_t i : board.Find("profile.exposed_communication")) {
    auto exposed_ns = static_cast<double>(ExposedNs(board, board.At(i)));
    auto excess_ns = static_cast<double>(excess.total_ns);
    if (exposed_ns <= 0 || excess_ns < kFelt * exposed_ns) continue;
    if (!board.Fold(straggler, i)) continue;
    board.At(i).why += fmt::format("; waiting for the straggler is up to {:.0f} % of it",
                                   std::min(100.0, 100 * excess_ns / exposed_ns));
    // What the ranks wait in, whichever collective it is.
    for (size_t costly : board.Find("accel.costliest_collective"))
      (void)board.Fold(straggler, costly);
  }
}

// Ranks of a stage that holds too much are late because of that; of a stage of one rank that cannot
// be told from a slow rank, and the straggler stays the cause.
void ExplainByStage(Board& board) {
  for (size_t stage : board.FindCauses("what_if.long_stage")) {
    const std::vector<int32_t> ranks = board.At(stage).ranks;
    for (size_t straggler : board.FindCauses("profile.straggler")) {
      if (!std::ranges::includes(ranks, board.At(straggler).ranks)) continue;
      (void)(ranks.size() > 1 ? board.Fold(stage, straggler) : board.Fold(straggler, stage));
    }
  }
}

bool IsAbout(const Board& board, const Finding& finding, int32_t rank) {
  const auto& idle = board.model().tables.Get<ProfileIdleTable>();
  for (size_t row : RowsOf(finding, "profile_idle")) {
    if (row < idle.size() && idle.rank[row] == rank) return true;
  }
  return finding.ranks == std::vector<int32_t>{rank};
}

}  // namespace

// Others wait for a straggler: their devices run communication that moves nothing, or nothing at
// all. What the straggler takes longer per step, over all steps, is how much of that it can
// explain; from a quarter on it is told as its consequence. A device that waits for its own host is
// explained by a straggler whose host is slow, when it is that rank's.
void StragglerExplainsWaiting(Board& board) {
  ExplainByStage(board);
  for (size_t straggler : board.FindCauses("profile.straggler")) {
    Excess excess;
    if (!FindExcess(board, board.At(straggler), excess)) continue;
    ExplainCommunication(board, straggler, excess);
    if (excess.reason != "host" && excess.reason != "data") continue;
    for (size_t i : board.Find("profile.host_bound")) {
      if (IsAbout(board, board.At(i), board.At(straggler).ranks.front())) board.Fold(straggler, i);
    }
  }
}

}  // namespace debrief::analyses::verdict
