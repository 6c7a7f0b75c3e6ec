// A broken job is judged from what there is. A kind of data that is not there could have told
// another story: each takes a little from the confidence, and the reason says what it would settle.
#include <fmt/format.h>

#include <array>

#include "analyses/verdict/rules.h"

namespace debrief::analyses::verdict {

namespace {

constexpr double kTaken = 0.02;

struct Kind {
  bool present;
  std::string_view missing;
};

}  // namespace

void MissingDataLowers(Board& board) {
  const Data& data = board.data();
  const std::array<Kind, 3> kinds = {
      Kind{data.dumps, "no Flight Recorder dumps: which operation each rank was in is not known"},
      Kind{data.text,
           "no output of the ranks: a traceback, an exit or a time limit would be there"},
      Kind{data.compile_logs, "no compile logs: whether a rank was compiling is not known"}};
  for (size_t cause : board.RankedCauses()) {
    Finding& finding = board.At(cause);
    if (finding.severity != Severity::kError) continue;
    bool hangs = !finding.explains.empty();
    for (const Kind& kind : kinds) {
      if (kind.present || !hangs) continue;
      finding.confidence -= kTaken * finding.confidence;
      finding.why += fmt::format("; {}", kind.missing);
    }
  }
}

}  // namespace debrief::analyses::verdict
