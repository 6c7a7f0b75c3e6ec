// A process that died comes to no collective and leaves no dump: that others wait for it, and that
// its dump is missing, follows from its end. What its output tells of the end is the answer; dumps
// add in what the others wait, a compile log when the process was last seen.
#include <fmt/format.h>

#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"
#include "base/text/units.h"
#include "tables/compile_life.h"

namespace debrief::analyses::verdict {

namespace {

void TellWhoWaits(Board& board, size_t death, size_t absence) {
  const Finding absent = board.At(absence);
  std::string waiting = WaitingInWords(board, absent);
  Finding& finding = board.At(death);
  if (!waiting.empty()) finding.headline += fmt::format("; {}", waiting);
  finding.groups = absent.groups;
  finding.op = absent.op;
  finding.seq = absent.seq;
  finding.source.insert(finding.source.end(), absent.source.begin(), absent.source.end());
  finding.evidence.insert(finding.evidence.end(), absent.evidence.begin(), absent.evidence.end());
}

// The last life of the rank's compile log, when the log tells its end.
void TellEndOfCompileLog(Board& board, size_t death) {
  const auto& lives = board.model().tables.Get<CompileLifeTable>();
  int64_t last = -1;
  for (size_t i = 0; i < lives.size(); ++i) {
    bool ours = lives.job[i] == board.job() && lives.attempt[i] == board.attempt() &&
                lives.rank[i] == board.At(death).ranks.front() && lives.end_ns[i] != kNone64;
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

void DeathExplainsAbsence(Board& board) {
  for (std::string_view end : {"text_hang.died", "text_hang.exited"}) {
    for (size_t death : board.FindCauses(end)) {
      bool told = false;
      TellEndOfCompileLog(board, death);
      for (std::string_view rule : {"flight.no_dump", "flight.host_never_came"}) {
        for (size_t absence : board.FindCauses(rule)) {
          if (!ContainsAll(board.At(death).ranks, board.At(absence).ranks)) continue;
          if (!told && board.At(absence).severity == Severity::kError)
            TellWhoWaits(board, death, absence);
          told = true;
          if (!board.Fold(death, absence)) continue;
          board.Support(death, board.At(absence).confidence,
                        rule == "flight.no_dump" ? "it left no dump, as a process that is gone"
                                                 : "dumps of the others show that it never came");
        }
      }
    }
  }
}

}  // namespace debrief::analyses::verdict
