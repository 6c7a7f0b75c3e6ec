// Two causes that blame different ranks for one wait cannot both be right. The more serious, then
// the surer stays; the other becomes an observation that says so. Findings of one analysis are not
// weighed against each other: it has seen both. A cause that says nothing about waiting in a job
// that runs to its end (a rank that compiles otherwise) contradicts nobody.
#include <fmt/format.h>

#include "analyses/verdict/rules.h"
#include "base/text/rank_list.h"

namespace debrief::analyses::verdict {

namespace {

std::string_view AnalysisOf(const Finding& finding) {
  return std::string_view(finding.rule).substr(0, finding.rule.find('.'));
}

// Does it say that others wait for the blamed rank?
bool IsAboutWaiting(const Finding& finding) {
  return finding.severity == Severity::kError || finding.rule.ends_with(".straggler") ||
         finding.rule == "compile.rank_slow";
}

bool Contradicts(const Finding& best, const Finding& other) {
  if (best.ranks.empty() || other.ranks.empty() || best.ranks == other.ranks) return false;
  bool breaks = best.severity == Severity::kError;
  if (AnalysisOf(best) == AnalysisOf(other) && best.severity == other.severity) return false;
  return IsAboutWaiting(best) && (breaks || IsAboutWaiting(other));
}

}  // namespace

void NoContradictions(Board& board) {
  std::vector<size_t> causes = board.RankedCauses();
  for (size_t i = 0; i < causes.size(); ++i) {
    if (board.At(causes[i]).role != Role::kCause) continue;
    for (size_t k = i + 1; k < causes.size(); ++k) {
      const Finding& best = board.At(causes[i]);
      if (board.At(causes[k]).role != Role::kCause || !Contradicts(best, board.At(causes[k])))
        continue;
      board.Lower(causes[k], fmt::format("no cause beside {}, whom {} blames with more evidence",
                                         RanksInWords(best.ranks), best.rule));
    }
  }
}

}  // namespace debrief::analyses::verdict
