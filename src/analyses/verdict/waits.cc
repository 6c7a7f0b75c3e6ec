#include "analyses/verdict/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/rank_list.h"
#include "tables/comm_op.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {

namespace {

constexpr int64_t kMs = 1'000'000;

void AddOp(const Board& board, const Finding& finding, size_t row, Window& window) {
  const auto& ops = board.model().tables.Get<CommOpTable>();
  if (row >= ops.size() || ops.created_ns[row] == kNone64) return;
  if (std::binary_search(finding.ranks.begin(), finding.ranks.end(), ops.rank[row])) return;
  int64_t limit_ms = ops.timeout_ms[row] == kNone32 ? 0 : ops.timeout_ms[row];
  window.Widen(ops.created_ns[row], ops.created_ns[row] + limit_ms * kMs);
}

void AddTimeout(const Board& board, size_t row, Window& window) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  if (row >= events.size()) return;
  if (events.time_ns[row] == kNone64 || events.ran_ms[row] == kNone64) return;
  window.Widen(events.time_ns[row] - events.ran_ms[row] * kMs, events.time_ns[row]);
}

}  // namespace

void Window::Widen(int64_t other_begin_ns, int64_t other_end_ns) {
  if (!known()) *this = {other_begin_ns, other_end_ns};
  begin_ns = std::min(begin_ns, other_begin_ns);
  end_ns = std::max(end_ns, other_end_ns);
}

int64_t Window::OverlapWith(int64_t other_begin_ns, int64_t other_end_ns) const {
  return std::min(end_ns, other_end_ns) - std::max(begin_ns, other_begin_ns);
}

Window WaitOf(const Board& board, const Finding& finding) {
  Window window;
  for (size_t row : RowsOf(finding, "comm_op")) AddOp(board, finding, row, window);
  for (size_t row : RowsOf(finding, "text_event")) AddTimeout(board, row, window);
  return window;
}

std::vector<int32_t> WaitersOf(const Board& board, const Finding& finding) {
  if (finding.rule == "text_hang.timeouts") return finding.ranks;
  std::set<int32_t> waiters;
  for (size_t effect : finding.explains) {
    const Finding& each = board.At(effect);
    if (each.rule == "flight.waiting" || each.rule == "text_hang.timeouts")
      waiters.insert(each.ranks.begin(), each.ranks.end());
  }
  if (waiters.empty() && !finding.groups.empty())
    waiters.insert(finding.groups[0].ranks.begin(), finding.groups[0].ranks.end());
  for (int32_t blamed : finding.ranks) waiters.erase(blamed);
  return {waiters.begin(), waiters.end()};
}

std::string WaitingInWords(const Board& board, const Finding& finding) {
  std::vector<int32_t> waiters = WaitersOf(board, finding);
  if (waiters.empty()) return {};
  std::string text = RanksInWords(waiters) + " waited";
  if (finding.op.empty() || finding.groups.empty()) return text;
  const GroupRef& group = finding.groups[0];
  bool named = !group.desc.empty() && group.desc != "undefined";
  text += fmt::format(" in {} #{} of {}", finding.op, finding.seq, named ? group.desc : group.name);
  // Text names those members of a group that speak, dumps name all.
  if (finding.rule.starts_with("flight.")) text += fmt::format(" [{}]", FoldNumbers(group.ranks));
  return text;
}

}  // namespace debrief::analyses::verdict
