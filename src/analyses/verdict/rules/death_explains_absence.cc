// A process that died comes to no collective and leaves no dump: that others wait for it, and that
// its dump is missing, follows from its end. What its output tells of the end is the answer; dumps
// add in what the others wait, a compile log when the process was last seen.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyses/verdict/process_exits.h"
#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "base/text/units.h"
#include "tables/compile_life.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {

namespace {

void ReportWhoWaits(Board& board, size_t death, size_t absence) {
  const Finding absent = board.At(absence);
  std::string waiting = WaitingInWords(board, absent);
  Finding& finding = board.At(death);
  if (!waiting.empty()) {
    finding.headline += fmt::format("; {}", waiting);
    // The sentence of a headline that was too long.
    if (!finding.evidence.empty() && finding.evidence.front().table.empty())
      finding.evidence.front().text += fmt::format("; {}", waiting);
  }
  finding.groups = absent.groups;
  finding.op = absent.op;
  finding.seq = absent.seq;
  finding.source.insert(finding.source.end(), absent.source.begin(), absent.source.end());
  finding.evidence.insert(finding.evidence.end(), absent.evidence.begin(), absent.evidence.end());
}

// The last life of the rank's compile log, when the log tells its end.
void ReportEndOfCompileLog(Board& board, size_t death) {
  const auto& lives = board.model().tables.Get<CompileLifeTable>();
  int64_t last = -1;
  for (const size_t i : board.OwnRows(lives)) {
    bool ours = lives.rank[i] == board.At(death).ranks.front() && lives.end_ns[i] != kNone64;
    if (ours && (last < 0 || lives.end_ns[static_cast<size_t>(last)] < lives.end_ns[i]))
      last = static_cast<int64_t>(i);
  }
  if (last < 0) return;
  auto row = static_cast<size_t>(last);
  bool inside = board.model().pools.Text(lives.outcome[row]) == "unfinished";
  board.At(death).evidence.push_back(
      {fmt::format("its compile log ends at {}, {} a compilation", TimeOfDay(lives.end_ns[row]),
                   inside ? "inside of" : "not inside of"),
       "compile_life",
       {last}});
}

}  // namespace

namespace {

constexpr std::array<std::string_view, 5> kAbsences = {
    "flight.no_dump", "flight.host_never_came", "flight.stopped_together",
    "flight.gpu_or_network_hang", "flight.in_flight"};

// When the process ended, by the first evidence that tells a time; null when none does.
int64_t TimeOfDeath(const Board& board, const Finding& death) {
  const auto& events = board.model().tables.Get<TextEventTable>();
  int64_t first = kNone64;
  auto look = [&](int64_t time) {
    if (time != kNone64 && (first == kNone64 || time < first)) first = time;
  };
  for (size_t row : RowsOf(death, "text_event")) {
    if (row < events.size()) look(events.time_ns[row]);
  }
  for (const ProcessExit& exit : ProcessExitsOf(board)) {
    bool its = std::binary_search(death.ranks.begin(), death.ranks.end(), exit.rank);
    if (its) look(exit.time_ns);
  }
  return first;
}

// Others wait for another rank by their dumps. Had the process ended before they began to wait, or
// soon after, that other one is only what came to a stop last. Nobody works on for minutes without
// a process: times that are further apart are of other clocks, or of another story.
bool EndedBeforeTheWait(const Board& board, const Finding& death, const Finding& absence) {
  constexpr int64_t kSecond = 1'000'000'000, kLongBefore = 120 * kSecond;
  Window wait = WaitOf(board, absence);
  int64_t died = TimeOfDeath(board, death);
  if (!wait.known() || died == kNone64) return false;
  int64_t after = died - wait.begin_ns;
  return after > -kLongBefore && after < std::max(5 * kSecond, wait.length() / 2);
}

bool Explains(const Board& board, const Finding& death, const Finding& absence) {
  return ContainsAll(death.ranks, absence.ranks) || EndedBeforeTheWait(board, death, absence);
}

std::string_view WhyItAgrees(const Finding& absence) {
  if (absence.ranks.empty()) return "";
  return absence.rule == "flight.no_dump" ? "it left no dump, like a process that died"
                                          : "dumps of the other ranks show that it did not join";
}

}  // namespace

void DeathExplainsAbsence(Board& board) {
  for (std::string_view end : {"text_hang.died", "text_hang.exited", "verdict.process_ended"}) {
    for (size_t death : board.FindCauses(end)) {
      bool told = false;
      ReportEndOfCompileLog(board, death);
      for (std::string_view rule : kAbsences) {
        for (size_t absence : board.FindCauses(rule)) {
          if (!Explains(board, board.At(death), board.At(absence))) continue;
          bool error = board.At(absence).severity == Severity::kError;
          if (!told && error) ReportWhoWaits(board, death, absence);
          told = true;
          bool same = ContainsAll(board.At(death).ranks, board.At(absence).ranks);
          std::string_view why = WhyItAgrees(board.At(absence));
          if (!board.Fold(death, absence)) continue;
          if (same && !why.empty()) board.Support(death, board.At(absence).confidence, why);
        }
      }
    }
  }
}

}  // namespace debrief::analyses::verdict
