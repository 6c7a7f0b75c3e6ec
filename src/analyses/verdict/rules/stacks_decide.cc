// Stacks are evidence of the first order: they show where the rank stands that others wait for.
// Where dumps, outputs, NCCL RAS or traces of torch.distributed.debug blame the same rank, that is
// one cause, told with the line of the program. Where they blame a rank whose stack shows that it
// waits, the stack decides. Without stacks, RAS and traces support what dumps and outputs say.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "analyses/verdict/rules.h"
#include "base/text/strings.h"
#include "tables/stack_dump.h"

namespace debrief::analyses::verdict {

namespace {

bool IsLive(const Finding& finding) {
  return finding.rule.starts_with("text_stacks.") || finding.rule.starts_with("text_ras.") ||
         finding.rule.starts_with("text_fr_trace.");
}

// It says that a rank did not come, and not why.
bool IsAbsence(const Finding& finding) {
  static constexpr std::array<std::string_view, 7> kRules = {
      "flight.host_never_came", "flight.no_dump",  "flight.stopped_together", "text_hang.silent",
      "text_hang.exited",       "text_hang.stuck", "text_hang.counter"};
  return std::find(kRules.begin(), kRules.end(), finding.rule) != kRules.end() || IsLive(finding);
}

// The watchdog of a rank that waits ends its process so. Where outputs say that it died, one look
// at its stack before is not enough to tell otherwise.
bool IsAbort(const Finding& finding, bool proven) {
  return (finding.rule == "verdict.process_ended" ||
          (finding.rule == "text_hang.died" && proven)) &&
         (Contains(finding.headline, "SIGABRT") || Contains(finding.headline, "signal 6"));
}

bool IsAboutHang(const Finding& finding) {
  return finding.rule.starts_with("flight.") || finding.rule.starts_with("text_hang.") ||
         finding.rule.starts_with("verdict.") || IsLive(finding);
}

// Ranks that wait, by their stacks.
std::set<int32_t> WaitersByStack(const Board& board, const Finding& finding) {
  const auto& stacks = board.model().tables.Get<StackDumpTable>();
  std::set<int32_t> waiters;
  for (size_t row : RowsOf(finding, "stack_dump")) {
    if (row < stacks.size()) waiters.insert(stacks.rank[row]);
  }
  for (int32_t blamed : finding.ranks) waiters.erase(blamed);
  return waiters;
}

bool Agrees(const Finding& lead, const Finding& other) {
  if (lead.ranks.empty() || other.ranks.empty()) return false;
  return ContainsAll(lead.ranks, other.ranks) || ContainsAll(other.ranks, lead.ranks);
}

// The headline names the collective where dumps tell it: "the other 7 wait in all_reduce #38".
void NameCollective(const Finding& told, Finding& lead) {
  if (told.op.empty() || told.seq == kNone64 || lead.seq != kNone64) return;
  lead.op = told.op;
  lead.seq = told.seq;
  lead.groups = told.groups;
  for (std::string_view waits : {" wait in ", " waits in "}) {
    size_t at = lead.headline.rfind(waits);
    if (at == std::string::npos) continue;
    lead.headline = fmt::format("{}{}{} #{}", std::string_view(lead.headline).substr(0, at), waits,
                                told.op, told.seq);
    return;
  }
}

// What a finding rests on, in words.
std::string_view SourceOf(const Finding& finding) {
  if (finding.rule.starts_with("text_stacks.")) return "stacks";
  if (finding.rule.starts_with("text_ras.")) return "counters of NCCL RAS";
  if (finding.rule.starts_with("text_fr_trace.")) return "traces of torch.distributed.debug";
  return finding.rule.starts_with("flight.") ? "Flight Recorder dumps" : "outputs of the ranks";
}

void Join(Board& board, size_t lead, size_t other) {
  const Finding told = board.At(other);
  if (!board.Fold(lead, other)) return;
  board.At(other).severity = Severity::kInfo;  // it adds no trouble to the cause's
  if (board.At(lead).rule.starts_with("text_stacks.")) NameCollective(told, board.At(lead));
  board.At(lead).severity = std::max(board.At(lead).severity, told.severity);
  bool same = board.At(lead).ranks == told.ranks;
  // The surer of the two counts in full, whichever leads.
  double first = board.At(lead).confidence, second = told.confidence * (same ? 1 : 0.5);
  board.At(lead).confidence = std::max(first, second);
  board.Support(lead, std::min(first, second),
                fmt::format("{} {}", SourceOf(told), same ? "agree" : "agree in part"));
  if (!told.evidence.empty()) {
    const Evidence& first = told.evidence.front();
    board.At(lead).evidence.push_back({told.headline, first.table, first.rows});
  }
  Finding& finding = board.At(lead);
  finding.source.insert(finding.source.end(), told.source.begin(), told.source.end());
}

// The best of the live findings: stacks, then traces of collectives, then RAS.
size_t FindLead(const Board& board) {
  for (std::string_view rule : {"text_stacks.", "text_fr_trace.", "text_ras."}) {
    std::vector<size_t> causes = board.FindCauses(rule);
    if (!causes.empty()) return causes.front();
  }
  return SIZE_MAX;
}

// It blames a rank that waits, by its stack, for what follows from waiting.
bool IsRefuted(const Finding& finding, const std::set<int32_t>& waiters, bool proven) {
  bool waits =
      !finding.ranks.empty() && std::all_of(finding.ranks.begin(), finding.ranks.end(),
                                            [&](int32_t rank) { return waiters.contains(rank); });
  return waits && (IsAbsence(finding) || IsAbort(finding, proven));
}

// A picture of one moment is as serious as the rest of what is known: time limits that ran out, or
// an end that nothing else explains.
void WeighMoment(Board& board, size_t lead, const std::set<int32_t>& waiters) {
  bool proven = board.At(lead).severity == Severity::kError;
  bool trouble = !board.Find("text_hang.timeouts").empty();
  for (size_t i : board.FindCauses()) {
    const Finding& finding = board.At(i);
    bool serious = finding.severity == Severity::kError && IsAboutHang(finding);
    if (i == lead || !serious) continue;
    trouble = true;
    if (!Agrees(board.At(lead), finding) && !IsRefuted(finding, waiters, proven)) return;
  }
  if (trouble && !board.At(lead).ranks.empty()) board.At(lead).severity = Severity::kError;
}

// What agrees with `lead` becomes one with it; returns which of them is the cause then.
size_t JoinOthers(Board& board, size_t lead, const std::set<int32_t>& waiters, bool proven) {
  bool serious = board.At(lead).severity == Severity::kError;
  for (size_t other : board.RankedCauses()) {
    const Finding& finding = board.At(other);
    // A straggler, say, is no cause of a hang.
    bool weighs = IsAboutHang(finding) && (finding.severity == Severity::kError || IsLive(finding));
    if (other == lead || finding.role != Role::kCause || !weighs) continue;
    if (Agrees(board.At(lead), finding)) {
      bool by_stacks = board.At(lead).rule.starts_with("text_stacks.");
      bool keeps = IsLive(finding) || (by_stacks && IsAbsence(finding));
      // Those of the same kind are weighed by other rules.
      if (!keeps && !IsLive(board.At(lead))) continue;
      keeps ? Join(board, lead, other) : Join(board, other, lead);
      if (!keeps) lead = other;
    } else if (serious && IsRefuted(finding, waiters, proven)) {
      board.Lower(other, "its stack shows that it waits for others");
      board.At(other).severity = Severity::kWarning;
    }
  }
  return lead;
}

}  // namespace

void StacksDecide(Board& board) {
  size_t lead = FindLead(board);
  if (lead == SIZE_MAX) return;
  std::set<int32_t> waiters = WaitersByStack(board, board.At(lead));
  bool proven = board.At(lead).severity == Severity::kError;  // by several looks
  WeighMoment(board, lead, waiters);
  lead = JoinOthers(board, lead, waiters, proven);
  for (size_t timeouts : board.Find("text_hang.timeouts")) {
    if (board.At(timeouts).role != Role::kConsequence) board.Fold(lead, timeouts);
  }
}

}  // namespace debrief::analyses::verdict
