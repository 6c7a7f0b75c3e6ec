// A process that died comes to no collective and leaves no dump: that others wait for it, and that
// its dump is missing, follows from its end. What its output tells of the end is the answer; dumps
// add in what the others wait.
#include <fmt/format.h>

#include "analyses/verdict/rules.h"
#include "analyses/verdict/waits.h"

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

}  // namespace

void DeathExplainsAbsence(Board& board) {
  for (std::string_view end : {"text_hang.died", "text_hang.exited"}) {
    for (size_t death : board.FindCauses(end)) {
      bool told = false;
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
