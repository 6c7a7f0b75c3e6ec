// Rows and findings about a job that was replayed from the profiles of its ranks.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "analyses/what_if/what_if.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/what_if_cause.h"
#include "tables/what_if_change.h"
#include "tables/what_if_job.h"
#include "tables/what_if_step.h"

namespace debrief::analyses::what_if {

namespace {

constexpr double kHalf = 0.5;          // of what is lost, to be named
constexpr double kFarAhead = 2;        // times the gain of the next rank
constexpr double kLeastGainNs = 10e6;  // of all steps together: less is not worth a look
constexpr size_t kFewestSteps = 2;     // of one step any rank may be the slowest
constexpr size_t kStepsToCompare = 3;  // fewer do not tell whether times rise together
constexpr double kLeastCorrelation = 0.9;
constexpr double kLeastSpread = 0.1;
constexpr double kLeastUneven = 0.05;  // of a step
constexpr double kLongStage = 1.1;     // times what the other stages compute

size_t RankCount(const ProfileGraph& graph) {
  std::set<int32_t> ranks;
  for (const ProfileLane& lane : graph.lanes) ranks.insert(lane.rank);
  return ranks.size();
}

double SlowdownOf(const ProfileGains& gains) {
  return gains.typical > 0 ? gains.replayed / gains.typical : 1;
}

// Share of what is lost that goes away with the worst rank.
double ShareOfWorst(const ProfileGains& gains) {
  return gains.worst_gain / (gains.replayed - gains.typical);
}

bool IsNamed(const ProfileGains& gains) {
  return gains.steps.size() >= kFewestSteps && SlowdownOf(gains) >= kLeastSlowdown &&
         gains.worst_rank != kNone32 && ShareOfWorst(gains) >= kHalf &&
         gains.worst_gain >= (1 - 1 / kLeastSlowdown) * gains.replayed &&
         gains.worst_gain * static_cast<double>(gains.steps.size()) >= kLeastGainNs &&
         gains.worst_gain >= kFarAhead * gains.next_gain;
}

// The stage with most computing, when it is clearly longer than all others, steps would gain with
// equal stages, and it is no single rank of it that is slow.
bool IsStageLong(const ProfileGains& gains) {
  return gains.stages > 1 && gains.steps.size() >= kFewestSteps && !IsNamed(gains) &&
         gains.longest_stage != kNone32 && gains.longest_by >= kLongStage &&
         gains.stages_gain >= (1 - 1 / kLeastSlowdown) * gains.replayed &&
         gains.stages_gain * static_cast<double>(gains.steps.size()) >= kLeastGainNs;
}

// Sequence lengths that differ: forward and backward of a rank's step rise and fall together, and
// by much. One rank that is slow in all steps moves neither.
bool AreLengthsUneven(const ProfileGains& gains) {
  return gains.steps.size() >= kStepsToCompare && !IsNamed(gains) && !IsStageLong(gains) &&
         gains.variation.correlation >= kLeastCorrelation &&
         gains.variation.spread >= kLeastSpread &&
         gains.even_gain >= kLeastUneven * gains.replayed &&
         gains.even_gain * static_cast<double>(gains.steps.size()) >= kLeastGainNs;
}

Cause CauseOf(const ProfileGains& gains) {
  if (IsNamed(gains)) return Cause::kWorkers;
  if (IsStageLong(gains)) return Cause::kDivision;
  if (AreLengthsUneven(gains)) return Cause::kSequenceLengths;
  return SlowdownOf(gains) >= kLeastSlowdown ? Cause::kSeveral : Cause::kNone;
}

WhatIfJobRow ProfilesRow(const ProfileGraph& graph, const ProfileGains& gains, const Identity& who,
                         Part& part) {
  WhatIfJobRow row;
  row.job = who.job;
  row.attempt = who.attempt;
  row.source = part.pools.Intern("profiles");
  row.workers = static_cast<int32_t>(RankCount(graph));
  row.steps = static_cast<int32_t>(gains.steps.size());
  row.steps_left_out = static_cast<int32_t>(gains.steps_left_out);
  row.unmatched = graph.unmatched;
  if (!graph.why_not.empty()) {
    row.why_not = part.pools.Intern(graph.why_not);
    return row;
  }
  row.ops = static_cast<int64_t>(graph.size());
  row.recorded_ns = std::llround(gains.recorded);
  row.replayed_ns = std::llround(gains.replayed);
  row.typical_ns = std::llround(gains.typical);
  row.slowdown = SlowdownOf(gains);
  row.wasted_share = 1 - 1 / row.slowdown;
  row.gap = gains.replayed > 0 ? gains.recorded / gains.replayed : 1;
  row.replay_error = gains.replay_error;
  row.correlation = gains.variation.correlation;
  row.spread = gains.variation.spread;
  if (gains.stages > 0) row.stages = static_cast<int32_t>(gains.stages);
  row.cause = part.pools.Intern(CauseName(CauseOf(gains)));
  return row;
}

// Shares are of what goes away when all ranks are like the others.
void AddProfileCauses(const ProfileGains& gains, const Identity& who, Part& part) {
  if (SlowdownOf(gains) < kLeastSlowdown || gains.worst_rank == kNone32) return;
  auto add = [&](Cause cause, double gain) {
    WhatIfCauseRow row;
    row.job = who.job;
    row.attempt = who.attempt;
    row.cause = part.pools.Intern(CauseName(cause));
    if (cause == Cause::kWorkers)
      row.cause_ranks = part.pools.lists.Intern(std::vector<int64_t>{gains.worst_rank});
    row.removed_share = gain / (gains.replayed - gains.typical);
    part.tables.Edit<WhatIfCauseTable>().Add(row);
  };
  add(Cause::kWorkers, gains.worst_gain);
  add(Cause::kVariation, gains.even_gain);
  if (gains.stages > 1) add(Cause::kDivision, gains.stages_gain);
}

Finding SlowRankFinding(const ProfileGains& gains, const Identity& who, int64_t row) {
  Finding finding;
  finding.rule = "what_if.slow_rank";
  finding.job = who.job;
  finding.attempt = who.attempt;
  finding.ranks = {gains.worst_rank};
  const double without = gains.replayed - gains.worst_gain;
  finding.headline = fmt::format(
      "Rank {} makes steps {:.2f}x longer: {} of {} would be saved if it were like the others",
      gains.worst_rank, gains.replayed / without, DurationText(std::llround(gains.worst_gain)),
      DurationText(std::llround(gains.replayed)));
  finding.evidence.push_back({.text = fmt::format("replayed with this rank like the others, steps "
                                                  "take {}; with the next rank the gain is {}",
                                                  DurationText(std::llround(without)),
                                                  DurationText(std::llround(gains.next_gain))),
                              .table = "what_if_job",
                              .rows = {row}});
  finding.confidence = 0.8;
  finding.why = fmt::format(
      "{} of what all ranks lose together; a replay without changes gives back the recording",
      PercentText(ShareOfWorst(gains)));
  finding.next_step = "See what each change would gain: debrief profile what-if.";
  return finding;
}

Finding LongStageFinding(const ProfileGains& gains, const Identity& who, int64_t row) {
  Finding finding;
  finding.rule = "what_if.long_stage";
  finding.severity = Severity::kWarning;
  finding.role = Role::kCause;
  finding.job = who.job;
  finding.attempt = who.attempt;
  finding.ranks = gains.longest_ranks;
  const double even = gains.replayed - gains.stages_gain;
  finding.headline = fmt::format(
      "Pipeline stage {} ({}) computes {:.2f}x as long as others: {} of {} per step",
      gains.longest_stage, RanksInWords(gains.longest_ranks), gains.longest_by,
      DurationText(std::llround(gains.stages_gain)), DurationText(std::llround(gains.replayed)));
  finding.evidence.push_back(
      {.text = fmt::format("steps replayed with all {} stages equally long take {}; without "
                           "changes {}",
                           gains.stages, DurationText(std::llround(even)),
                           DurationText(std::llround(gains.replayed))),
       .table = "what_if_job",
       .rows = {row}});
  finding.confidence = gains.longest_ranks.size() > 1 ? 0.9 : 0.6;
  finding.why = gains.longest_ranks.size() > 1
                    ? "all ranks of the stage compute about as long as each other"
                    : "one rank is the stage: more layers, or a slow GPU";
  finding.next_step = "Move layers from this stage to others (embeddings and the loss count too).";
  return finding;
}

Finding UnevenFinding(const ProfileGains& gains, const Identity& who, int64_t row) {
  Finding finding;
  finding.rule = "what_if.uneven_work";
  finding.severity = Severity::kWarning;
  finding.role = Role::kCause;
  finding.job = who.job;
  finding.attempt = who.attempt;
  const double even = gains.replayed - gains.even_gain;
  finding.headline =
      fmt::format("Steps are {:.2f}x longer ({} of {}) because sequence lengths vary between ranks",
                  gains.replayed / even, DurationText(std::llround(gains.even_gain)),
                  DurationText(std::llround(gains.replayed)));
  finding.evidence.push_back(
      {.text = fmt::format("steps replayed with computing shared out evenly over ranks take {}; "
                           "forward and backward rise together (correlation {:.2f}) and vary by {}",
                           DurationText(std::llround(even)), gains.variation.correlation,
                           PercentText(gains.variation.spread)),
       .table = "what_if_job",
       .rows = {row}});
  finding.confidence = 0.7;
  finding.why = "no rank is slow in all steps; a replay without changes gives back the recording";
  finding.next_step =
      "Balance batches by their cost (the square of sequence lengths, for attention), over ranks "
      "and over time.";
  return finding;
}

}  // namespace

void AddProfileReport(const ProfileGraph& graph, const ProfileGains& gains, const Identity& who,
                      AnalysisResult& result) {
  Part& part = result.part;
  const auto row = static_cast<int64_t>(part.tables.Get<WhatIfJobTable>().size());
  part.tables.Edit<WhatIfJobTable>().Add(ProfilesRow(graph, gains, who, part));
  if (!graph.why_not.empty() || gains.steps.empty()) return;
  AddProfileCauses(gains, who, part);
  for (const ProfileChange& change : gains.changes) {
    WhatIfChangeRow each;
    each.job = who.job;
    each.attempt = who.attempt;
    each.kind = part.pools.Intern(change.kind);
    each.name = part.pools.Intern(change.name);
    each.worker_rank = change.rank;
    each.stage = change.stage;
    each.slowdown = change.slowdown;
    if (!change.part.empty()) each.part = part.pools.Intern(change.part);
    each.step_ns = std::llround(change.step_ns);
    each.gain_ns = std::llround(gains.replayed - change.step_ns);
    each.gain_share = 1 - change.step_ns / gains.replayed;
    part.tables.Edit<WhatIfChangeTable>().Add(each);
  }
  for (size_t step = 0; step < gains.steps.size(); ++step) {
    WhatIfStepRow each;
    each.job = who.job;
    each.attempt = who.attempt;
    each.step = gains.steps[step];
    each.recorded_ns = std::llround(gains.recorded_ns[step]);
    each.replayed_ns = std::llround(gains.replayed_ns[step]);
    if (gains.typical > 0) each.slowdown = gains.replayed_ns[step] / gains.typical;
    part.tables.Edit<WhatIfStepTable>().Add(each);
  }
  if (IsNamed(gains)) result.findings.push_back(SlowRankFinding(gains, who, row));
  if (IsStageLong(gains)) result.findings.push_back(LongStageFinding(gains, who, row));
  if (AreLengthsUneven(gains)) result.findings.push_back(UnevenFinding(gains, who, row));
}

}  // namespace debrief::analyses::what_if
