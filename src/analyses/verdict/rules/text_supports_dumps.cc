// Watchdogs say in words what dumps hold as rows. Where both blame the same ranks, that is one
// cause, told with the dumps' detail and surer for it. Where one names more ranks than the other,
// they agree by half. That the ranks which wait by their dumps ran into time limits
// supports a verdict as well, a little.
#include <utility>

#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

namespace {

constexpr double kTimeoutsAlone = 0.3;

// The first finding of the attempt that is an error and a cause, by dumps or by this analysis.
size_t BestByDumps(const Board& board) {
  for (size_t i : board.RankedCauses()) {
    const Finding& finding = board.At(i);
    bool by_dumps = finding.rule.starts_with("flight.") || finding.rule.starts_with("verdict.") ||
                    finding.rule == "text_hang.exited" || finding.rule == "text_hang.died";
    if (by_dumps && finding.severity == Severity::kError && !finding.ranks.empty()) return i;
  }
  return ~size_t{0};
}

void FoldText(Board& board, size_t cause, size_t text) {
  bool same = board.At(cause).ranks == board.At(text).ranks;
  double confidence = board.At(text).confidence * (same ? 1 : 0.5);
  if (!board.Fold(cause, text)) return;
  board.At(text).severity = Severity::kInfo;  // it adds no trouble to the cause's
  const std::vector<size_t> effects = std::move(board.At(text).explains);
  board.At(text).explains.clear();
  for (size_t effect : effects) board.Fold(cause, effect);
  board.Support(cause, confidence,
                same ? "the outputs of the ranks say the same"
                     : "the outputs of the ranks say the same in part");
  if (board.At(text).evidence.empty()) return;
  const Evidence said = board.At(text).evidence.front();
  board.At(cause).evidence.push_back(
      {"by text alone: " + board.At(text).headline, said.table, said.rows});
}

}  // namespace

void TextSupportsDumps(Board& board) {
  size_t cause = BestByDumps(board);
  if (cause == ~size_t{0}) return;
  for (size_t text : board.FindCauses("text_hang.")) {
    const std::vector<int32_t>& said = board.At(text).ranks;
    const std::vector<int32_t>& blamed = board.At(cause).ranks;
    if (text != cause && (ContainsAll(said, blamed) || ContainsAll(blamed, said)))
      FoldText(board, cause, text);
  }
  bool by_text = board.At(cause).rule.starts_with("text_hang.");
  for (size_t timeouts : board.Find("text_hang.timeouts")) {
    if (board.Fold(cause, timeouts) && !by_text)
      board.Support(cause, kTimeoutsAlone, "watchdogs report timeouts of the ranks that wait");
  }
}

}  // namespace debrief::analyses::verdict
