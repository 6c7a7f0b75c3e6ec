// Findings about a job of pipeline stages: who makes its steps long, and by how much.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyses/what_if/what_if.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"

namespace debrief::analyses::what_if {

namespace {

constexpr double kLargestGap = 1.05;    // of recorded by replayed steps
constexpr double kLargestError = 1e-3;  // of a replay with all delays
constexpr size_t kFewSteps = 10;        // the share of the slowest workers varies with fewer

std::string Ns(double ns) { return DurationText(std::llround(ns)); }

std::vector<int32_t> RanksOf(const StageJob& job, const std::vector<size_t>& workers) {
  std::vector<int32_t> ranks;
  for (size_t worker : workers) ranks.push_back(job.ranks[worker]);
  std::ranges::sort(ranks);
  return ranks;
}

// What a cause takes of a step: all that is lost at most.
struct Toll {
  double factor = 1;
  double lost_ns = 0;
};
Toll TollOf(const Stragglers& found, double share) {
  const double lost = (found.replayed - found.ideal) * std::min(1.0, share);
  return {found.replayed / (found.replayed - lost), lost};
}

std::string WorkersHeadline(const StageJob& job, const Stragglers& found) {
  const Toll toll = TollOf(found, found.worst_workers.removed);
  const std::string rest =
      fmt::format("{:.2f}x longer: {} of {}", toll.factor, Ns(toll.lost_ns), Ns(found.replayed));
  const std::vector<int32_t> ranks = RanksOf(job, found.named);
  if (ranks.size() > 1) return fmt::format("{} make every step {}", RanksAsSubject(ranks), rest);
  return fmt::format("Rank {} (dp {}, pp {}) makes every step {}", ranks[0],
                     found.named[0] / job.stages, found.named[0] % job.stages, rest);
}

std::string StageHeadline(const StageJob& job, const Stragglers& found) {
  const Toll toll = TollOf(found, found.last_stage.removed);
  return fmt::format("The last pipeline stage ({}) makes steps {:.2f}x longer: {} of {}",
                     RanksInWords(RanksOf(job, LastStage(job))), toll.factor, Ns(toll.lost_ns),
                     Ns(found.replayed));
}

std::string VariationHeadline(const Stragglers& found, bool are_lengths) {
  return fmt::format("Steps are {:.2f}x longer ({} of {}): {:.0f} % because {}", found.slowdown,
                     Ns(found.replayed - found.ideal), Ns(found.replayed), 100 * found.variation,
                     are_lengths ? "sequence lengths vary" : "work per micro-batch varies");
}

std::string SeveralHeadline(const Stragglers& found) {
  return fmt::format("Steps are {:.2f}x longer than with even work ({} of {}), for no single cause",
                     found.slowdown, Ns(found.replayed - found.ideal), Ns(found.replayed));
}

std::string TypesInWords(const Stragglers& found) {
  std::vector<FamilyCost> order = found.families;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [](const FamilyCost& each) { return each.cost.slowdown; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(3, order.size()); ++i)
    text +=
        fmt::format("{}{} {:.2f}x", i == 0 ? "" : ", ", order[i].family, order[i].cost.slowdown);
  return text;
}

// How much of the loss a replay with one thing as it should be removes: "replayed with rank 0 as
// fast as the typical worker, 100 % of the loss is gone". The cause of the headline comes first.
std::string SharesInWords(Cause told, const StageJob& job, const Stragglers& found) {
  struct Change {
    Cause cause;
    double share;
    std::string words;
  };
  std::vector<Change> changes;
  if (job.ranks.size() > 1)
    changes.push_back({Cause::kWorkers, found.worst_workers.removed,
                       RanksInWords(RanksOf(job, found.named)) + " as fast as the typical worker"});
  if (job.stages > 1) {
    changes.push_back(
        {Cause::kLastStage, found.last_stage.removed, "the last stage as fast as the others"});
    changes.push_back({Cause::kDivision, found.division, "the same work in all stages"});
  }
  changes.push_back({Cause::kVariation, found.variation, "even work in each worker"});
  const Cause first = told == Cause::kSequenceLengths ? Cause::kVariation : told;
  std::ranges::stable_partition(changes, [&](const Change& each) { return each.cause == first; });
  std::string text;
  for (const Change& each : changes)
    text += fmt::format("{} {}{}{:.0f} %{}", text.empty() ? "replayed with" : "; with", each.words,
                        text.empty() ? ", " : ": ", 100 * std::clamp(each.share, 0.0, 1.0),
                        text.empty() ? " of the loss is gone" : "");
  return text;
}

void Weigh(const StageJob& job, const Stragglers& found, Finding& finding) {
  finding.confidence = 0.9;
  finding.why = fmt::format(
      "replayed steps match the recorded ones within {}; gaps between ops, {} of a step, are left "
      "out",
      PercentText(std::max(found.replay_error, 0.001)), PercentText(1 - 1 / found.gap));
  if (job.steps.size() < kFewSteps) {
    finding.confidence = 0.7;
    finding.why += fmt::format("; only {} recorded", Plural(job.steps.size(), "step"));
  }
  const bool is_off =
      found.gap > kLargestGap || found.zeroed_delays > 0 || found.replay_error > kLargestError;
  if (!is_off) return;
  finding.confidence = 0.4;
  finding.why += fmt::format(
      "; much is not explained: work that is not recorded, or {} that began before what they wait "
      "for ended",
      Plural(found.zeroed_delays, "op"));
}

void Tell(Cause cause, const StageJob& job, const Stragglers& found, Finding& finding) {
  switch (cause) {
    case Cause::kWorkers:
      finding.rule = "what_if.slow_worker";
      finding.headline = WorkersHeadline(job, found);
      finding.ranks = RanksOf(job, found.named);
      finding.next_step =
          "Check its GPU (clocks, temperature, other processes) and its tensor-parallel peers, or "
          "move the work to another machine.";
      return;
    case Cause::kLastStage:
      finding.rule = "what_if.last_stage";
      finding.headline = StageHeadline(job, found);
      finding.ranks = RanksOf(job, LastStage(job));
      finding.next_step =
          "Give the last stage fewer layers: the loss and the output layer are computed there, "
          "too.";
      return;
    case Cause::kVariation:
    case Cause::kSequenceLengths:
      finding.rule = "what_if.uneven_work";
      finding.headline = VariationHeadline(found, cause == Cause::kSequenceLengths);
      finding.next_step =
          "Balance micro-batches by their cost (the square of sequence lengths, for attention), "
          "over ranks and over time.";
      return;
    case Cause::kDivision:
    case Cause::kSeveral:
    case Cause::kNone:
      finding.rule = "what_if.no_single_cause";
      finding.headline = SeveralHeadline(found);
      finding.next_step = "See what each part costs: debrief profile what-if.";
      return;
  }
}

}  // namespace

void AddStageFindings(const StageJob& job, const Stragglers& found, const Identity& who,
                      int64_t row, std::vector<Finding>& findings) {
  const size_t first = findings.size();
  for (Cause cause : CausesOf(job, found)) {
    if (cause == Cause::kNone) return;
    Finding finding;
    finding.job = who.job;
    finding.attempt = who.attempt;
    Tell(cause, job, found, finding);
    const bool is_named = cause != Cause::kSeveral;
    const bool is_first = findings.size() == first;
    finding.severity = is_named && is_first ? Severity::kWarning : Severity::kInfo;
    finding.role = is_named && is_first ? Role::kCause : Role::kObservation;
    finding.evidence.push_back(
        {.text = SharesInWords(cause, job, found), .table = "what_if_job", .rows = {row}});
    finding.evidence.push_back(
        {.text = fmt::format("how much longer one kind of op alone makes steps: {}",
                             TypesInWords(found)),
         .table = "what_if_change",
         .rows = {}});
    Weigh(job, found, finding);
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::what_if
