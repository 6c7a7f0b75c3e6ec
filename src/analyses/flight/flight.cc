// Which rank broke the job? Matches the collectives of all ranks and names who left one out, got it
// wrong, never came, or left no dump; everybody else waits for them.
//
// The rules run in an order in which an earlier one explains what a later one would see: members
// that did different things, then ranks whose reports are stale, then who waits for whom.
// docs/formats/flight_rules.md
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/flight/arrivals/arrivals.h"
#include "analyses/flight/cause.h"
#include "analyses/flight/index.h"
#include "analyses/flight/snapshot.h"
#include "analyses/flight/waits/waits.h"
#include "tables/comm_arrival.h"
#include "tables/comm_call.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/comm_status.h"
#include "tables/comm_traffic.h"
#include "tables/first_incomplete.h"
#include "tables/input.h"
#include "tables/text_event.h"

namespace debrief::analyses::flight {

namespace {

constexpr auto kNeeds = kTableNames<CommDumpTable>;
constexpr auto kUses =
    kTableNames<CommGroupTable, CommOpTable, CommStatusTable, InputTable, TextEventTable>;
constexpr auto kMakes = kTableNames<CommMatchTable, CommCallTable, FirstIncompleteTable,
                                    CommArrivalTable, CommTrafficTable>;

// Ranks of a job that goes on differ by what they do at the moment: only what is wrong at any time
// is told of it. A straggler is told only where nothing shows that the job hung or ended.
std::vector<Cause> FindCauses(const Index& index, const Waits& waits, const Arrivals& arrivals,
                              Moment moment) {
  std::vector<Cause> causes;
  FindMismatches(index, causes);
  FindP2pSizes(index, causes);
  if (causes.empty()) FindRestarts(index, causes);
  if (moment != Moment::kRunning) {
    if (causes.empty()) FindCompletionLag(index, causes);
    if (causes.empty()) FindWaitCauses(index, waits, causes);
  }
  if (causes.empty() && moment != Moment::kBadEnd) FindStragglers(index, arrivals, causes);
  FindGroupDisagreements(index, causes);
  FindMissingDumps(index, causes);
  FindOlderEpochs(index, causes);
  FindEmptyDumps(index, causes);
  return causes;
}

Status Run(const Model& model, AnalysisResult& result) {
  std::set<std::pair<int32_t, int32_t>> attempts;
  const auto& dumps = model.tables.Get<CommDumpTable>();
  for (size_t i = 0; i < dumps.size(); ++i) attempts.emplace(dumps.job[i], dumps.attempt[i]);
  const auto rows = std::make_shared<const IndexedRows>(model);
  for (auto [job, attempt] : attempts) {
    const Index index(model, job, attempt, result.pool, rows);
    Waits waits(index);
    Arrivals arrivals = FindArrivals(index);
    Moment moment = MomentOf(index, waits);
    std::vector<Cause> causes = FindCauses(index, waits, arrivals, moment);
    AddFindings(index, waits, causes, result.findings);
    bool told = std::any_of(causes.begin(), causes.end(),
                            [](const Cause& cause) { return cause.severity == Severity::kError; });
    if (!told) AddInFlight(index, waits, moment, result.findings);
    FillMatchTables(index, waits, causes, result.part);
    FillArrivalTables(index, arrivals, result.part);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info =
          {.name = "flight",
           .sentence =
               "Which rank broke the job: who skipped a collective, got it wrong, or never came?",
           .example =
               "Rank 5 skipped 4 collectives of mesh_dp [5, 7], the first: all_reduce #16 at "
               "train.py:53",
           .needs = kNeeds,
           .makes = kMakes,
           .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::flight
