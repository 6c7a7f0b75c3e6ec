// One folder, one verdict: the findings of all analyses, as causes and what follows from them.
//
// Each analysis knows one kind of data. A recompilation on one rank is an odd entry in its compile
// log, a late arrival in everybody's dumps and a line of the watchdog in every output; the rules
// here say that these are one thing. They run in the order below over the findings of one attempt
// of a job.
#include <array>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/verdict/board.h"
#include "analyses/verdict/older_runs.h"
#include "analyses/verdict/process_exits.h"
#include "analyses/verdict/rules.h"
#include "tables/finding.h"
#include "tables/text_event.h"

namespace debrief::analyses::verdict {

namespace {

constexpr auto kNeeds = kTableNames<FindingTable>;

constexpr std::array<void (*)(Board&), 26> kRules = {AbortedByWatchdog,
                                                     StaleSignalExplainsDumps,
                                                     CompilingWhileOthersWait,
                                                     EndedProcesses,
                                                     DeathExplainsAbsence,
                                                     StoppedTogetherAreNotSilent,
                                                     DumpsRefuteText,
                                                     StacksDecide,
                                                     StacksPlaceTheBlamed,
                                                     TextSupportsDumps,
                                                     ProfileSupportsDeath,
                                                     OneStraggler,
                                                     HostExplainsStraggler,
                                                     GpuFaultExplainsEnd,
                                                     CompilingMakesLate,
                                                     StragglerExplainsWaiting,
                                                     BreakExplainsHoles,
                                                     BreakExplainsSlowSteps,
                                                     HostPicturesOfEnd,
                                                     NoContradictions,
                                                     NamedExplainsUnnamed,
                                                     NeverNothing,
                                                     ReplicaCameBack,
                                                     MissingDataLowers,
                                                     PriceOfCause,
                                                     AtMostThree};

// Three digits are more than a confidence has to tell.
void RoundConfidences(std::vector<Finding>& findings) {
  for (Finding& finding : findings) finding.confidence = std::round(finding.confidence * 1e3) / 1e3;
}

// Attempts of which anything is known; one without findings may have failed all the same.
std::set<std::pair<int32_t, int32_t>> AttemptsOf(const Model& model,
                                                 const std::vector<Finding>& findings) {
  std::set<std::pair<int32_t, int32_t>> attempts;
  for (const Finding& finding : findings) attempts.emplace(finding.job, finding.attempt);
  const auto& events = model.tables.Get<TextEventTable>();
  for (size_t i = 0; i < events.size(); ++i) attempts.emplace(events.job[i], events.attempt[i]);
  AddAttemptsOfExits(model, attempts);
  return attempts;
}

void Judge(const Model& model, std::vector<Finding>& findings) {
  std::set<std::pair<int32_t, int32_t>> attempts = AttemptsOf(model, findings);
  const auto all = std::make_shared<AllAttempts>(model, findings);
  for (auto [job, attempt] : attempts) {
    if (job == kNone32) continue;  // not assigned to a job: nothing to join it with
    Board board(model, findings, job, attempt, all);
    for (auto rule : kRules) rule(board);
  }
  MarkOlderRuns(model, findings);
  RoundConfidences(findings);
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "verdict",
               .sentence = "Which of all findings are causes, and what follows from them?",
               .example =
                   "Rank 3 was compiling aux_slow (train.py:34) for 45 s while ranks 0-2 and "
                   "4-7 waited in send #5 of mesh_pp [3, 7]",
               .needs = kNeeds,
               .makes = {}},
      .run = nullptr,
      .judge = Judge};
  return kAnalysis;
}

}  // namespace debrief::analyses::verdict
