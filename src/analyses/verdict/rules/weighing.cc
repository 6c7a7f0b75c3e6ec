// Causes weighed against each other: contradictions, missing data, prices, and how many are told.
#include <fmt/format.h>

#include <algorithm>
#include <array>

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
         finding.rule == "host_gpus.throttled" || finding.rule == "compile.rank_slow";
}

bool Contradicts(const Finding& best, const Finding& other) {
  if (best.ranks.empty() || other.ranks.empty() || best.ranks == other.ranks) return false;
  bool breaks = best.severity == Severity::kError;
  if (AnalysisOf(best) == AnalysisOf(other) && best.severity == other.severity) return false;
  return IsAboutWaiting(best) && (breaks || IsAboutWaiting(other));
}

}  // namespace

// Two causes that blame different ranks for one wait cannot both be right. The more serious, then
// the surer stays; the other becomes an observation that says so. Findings of one analysis are not
// weighed against each other: it has seen both. A cause that says nothing about waiting in a job
// that runs to its end (a rank that compiles otherwise) contradicts nobody.
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
      Severity& severity = board.At(causes[k]).severity;
      if (severity == Severity::kError) severity = Severity::kInfo;
    }
  }
}

namespace {

constexpr double kTaken = 0.02;
constexpr std::string_view kNoCompileLogs = "no compile logs, so a rank may have been compiling";

struct Kind {
  bool present;
  std::string_view missing;
};

}  // namespace

// A broken job is judged from what there is. A kind of data that is not there could have told
// another story: each takes a little from the confidence, and the reason says what it would settle.
void MissingDataLowers(Board& board) {
  const Data& data = board.data();
  const std::array<Kind, 3> kinds = {
      Kind{data.dumps, "no Flight Recorder dumps, so the operation of each rank is not known"},
      Kind{data.text, "no rank output, so tracebacks, exits and timeouts are not known"},
      Kind{data.compile_logs, kNoCompileLogs}};
  for (size_t cause : board.RankedCauses()) {
    Finding& finding = board.At(cause);
    if (finding.severity != Severity::kError) continue;
    bool hangs = !finding.explains.empty();
    const bool died = finding.rule == "text_hang.died";
    for (const Kind& kind : kinds) {
      if (kind.present || !hangs) continue;
      if (died && kind.missing == kNoCompileLogs) continue;  // compiling ends no process
      finding.confidence -= kTaken * finding.confidence;
      finding.why += fmt::format("; {}", kind.missing);
    }
  }
}

namespace {

// What the compiler did in one compilation is no reason for another: a graph break costs nothing of
// a recompilation elsewhere.
bool IsPriceOf(const Finding& price, const Finding& cause) {
  if (price.ranks.empty() || price.ranks != cause.ranks) return false;
  if (!cause.rule.starts_with("compile.")) return true;
  return std::ranges::find_first_of(price.compile_ids, cause.compile_ids) !=
         price.compile_ids.end();
}

}  // namespace

// "Fix this first" about the ranks of a cause is that cause's price: it follows from it, and does
// not stand beside it as if it were something else to look at.
void PriceOfCause(Board& board) {
  for (std::string_view rule : {"cost.fix_first", "what_if.slow_rank"}) {
    for (size_t price : board.Find(rule)) {
      for (size_t cause : board.RankedCauses()) {
        if (!IsPriceOf(board.At(price), board.At(cause))) continue;
        if (board.Fold(cause, price)) break;
      }
    }
  }
}

// Who reads a verdict acts on one thing, and may look at two more. What is less serious or less
// sure than three causes is told as an observation.
void AtMostThree(Board& board) {
  constexpr size_t kMostCauses = 3;
  std::vector<size_t> causes = board.RankedCauses();
  for (size_t i = kMostCauses; i < causes.size(); ++i)
    board.Lower(causes[i], "three causes of this job are more serious or more certain");
}

}  // namespace debrief::analyses::verdict
