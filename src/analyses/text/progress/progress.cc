// What the steps that a program printed tell: when the loss became nan or jumped, when steps became
// slower, and which rank reported fewer steps than all others.
//
// Ranks step together, so a slow step accuses nobody; a loss that is nan on one rank alone does.
// Cost: one pass over progress and a few sorts of windows.
#include "tables/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "analyses/analysis.h"
#include "base/stats/statistics.h"
#include "base/text/units.h"

namespace debrief::analyses::text_progress {

namespace {

constexpr auto kNeeds = kTableNames<ProgressTable>;
constexpr double kNsPerMs = 1e6;

using Rows = std::vector<size_t>;

struct Attempt {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::map<int32_t, Rows> ranks;
};

// Of a rank whose output is in two texts (torchrun --tee), the one with more steps counts.
std::vector<Attempt> CollectAttempts(const Model& model) {
  const auto& progress = model.tables.Get<ProgressTable>();
  using Key = std::pair<int32_t, int32_t>;
  std::map<Key, std::map<int32_t, std::map<int32_t, Rows>>> sorted;  // by rank and input
  for (size_t row = 0; row < progress.size(); ++row) {
    if (progress.job[row] == kNone32) continue;
    sorted[{progress.job[row], progress.attempt[row]}][progress.rank[row]][progress.input[row]]
        .push_back(row);
  }
  std::vector<Attempt> attempts;
  for (auto& [key, ranks] : sorted) {
    Attempt& attempt = attempts.emplace_back(Attempt{key.first, key.second, {}});
    for (auto& [rank, inputs] : ranks) {
      auto most = std::max_element(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      });
      attempt.ranks[rank] = std::move(most->second);
    }
  }
  return attempts;
}

Finding NewFinding(const Attempt& attempt, std::string_view rule, Severity severity) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.role = Role::kObservation;
  finding.job = attempt.job;
  finding.attempt = attempt.attempt;
  return finding;
}

// "step 120", or the line where steps are not numbered.
std::string StepInWords(const Model& model, size_t row) {
  const auto& progress = model.tables.Get<ProgressTable>();
  if (progress.step[row] != kNone64) return fmt::format("step {}", progress.step[row]);
  return fmt::format("line {} of its output", progress.line[row]);
}

std::string ByRank(int32_t rank) {
  return rank == kNone32 ? "" : fmt::format(", as rank {} reports", rank);
}

Evidence RowsAsEvidence(std::string text, const Rows& rows) {
  Evidence evidence{std::move(text), "progress", {}};
  for (size_t row : rows) evidence.rows.push_back(static_cast<int64_t>(row));
  return evidence;
}

// ---- the loss

// The first row from which on every loss is nan or inf.
const size_t* FirstNotFinite(const Model& model, const Rows& rows) {
  const auto& progress = model.tables.Get<ProgressTable>();
  const size_t* first = nullptr;
  for (const size_t& row : rows) {
    if (progress.not_finite[row] != 0) {
      if (first == nullptr) first = &row;
    } else if (!std::isnan(progress.loss[row])) {
      first = nullptr;
    }
  }
  return first;
}

void FindNotFinite(const Model& model, const Attempt& attempt, std::vector<Finding>& findings) {
  const auto& progress = model.tables.Get<ProgressTable>();
  std::map<int32_t, size_t> broken;
  size_t with_loss = 0;
  for (const auto& [rank, rows] : attempt.ranks) {
    with_loss += std::any_of(rows.begin(), rows.end(),
                             [&](size_t row) {
                               return !std::isnan(progress.loss[row]) || progress.not_finite[row];
                             })
                     ? 1
                     : 0;
    if (const size_t* first = FirstNotFinite(model, rows)) broken.emplace(rank, *first);
  }
  if (broken.empty()) return;
  constexpr size_t kFewest = 3;  // ranks, before one of them can stand alone
  auto first = std::min_element(broken.begin(), broken.end(), [&](const auto& a, const auto& b) {
    return progress.step[a.second] < progress.step[b.second];
  });
  Finding finding = NewFinding(attempt, "text_progress.not_finite", Severity::kWarning);
  bool alone = broken.size() == 1 && with_loss >= kFewest;
  if (alone) finding.ranks = {first->first};
  finding.headline =
      fmt::format("The loss is nan or inf from {} on{}", StepInWords(model, first->second),
                  alone ? fmt::format(", on rank {} alone", first->first) : ByRank(first->first));
  finding.evidence.push_back(RowsAsEvidence("the first such step", {first->second}));
  finding.why = "the program printed it";
  finding.next_step =
      "Look at the gradient norm and the learning rate before this step, and at its input; "
      "torch.autograd.set_detect_anomaly(True) finds the op.";
  findings.push_back(std::move(finding));
}

// A step is a jump when the loss leaves by far the range of the steps before it, and stays outside.
size_t FindJump(const std::vector<double>& losses) {
  constexpr size_t kWindow = 16, kStays = 4;
  constexpr double kWide = 10, kShare = 0.5;
  for (size_t i = kWindow; i + kStays <= losses.size(); ++i) {
    auto at = losses.begin() + static_cast<int64_t>(i);
    std::vector<double> before(at - kWindow, at);
    double middle = Median(before);
    for (double& value : before) value = std::abs(value - middle);
    double limit = middle + std::max(kWide * Median(before), kShare * std::abs(middle));
    if (*std::min_element(at, at + kStays) > limit) return i;
  }
  return losses.size();
}

void FindJumps(const Model& model, const Attempt& attempt, std::vector<Finding>& findings) {
  const auto& progress = model.tables.Get<ProgressTable>();
  for (const auto& [rank, rows] : attempt.ranks) {
    std::vector<double> losses;
    Rows with_loss;
    for (size_t row : rows) {
      if (std::isnan(progress.loss[row])) continue;
      losses.push_back(progress.loss[row]);
      with_loss.push_back(row);
    }
    size_t jump = FindJump(losses);
    if (jump == losses.size()) continue;
    Finding finding = NewFinding(attempt, "text_progress.loss_jump", Severity::kWarning);
    finding.headline =
        fmt::format("The loss jumped from {:.4g} to {:.4g} at {}{}", losses[jump - 1], losses[jump],
                    StepInWords(model, with_loss[jump]), ByRank(rank));
    finding.evidence.push_back(
        RowsAsEvidence("the steps before and after", {with_loss[jump - 1], with_loss[jump]}));
    finding.confidence = 0.7;
    finding.why = "it left the range of the 16 steps before and did not return";
    finding.next_step = "Look at the learning rate, the gradient norm and the data of this step.";
    findings.push_back(std::move(finding));
    return;  // ranks report the same loss, or parts of one
  }
}

// ---- time

// Milliseconds a step, where the row or the one before tells it; 0 otherwise.
double StepTime(const Model& model, const Rows& rows, size_t i) {
  const auto& progress = model.tables.Get<ProgressTable>();
  size_t row = rows[i];
  if (!std::isnan(progress.step_time_ms[row])) return progress.step_time_ms[row];
  // What a server reports without a step follows the load.
  const bool of_step = progress.step[row] != kNone64 || !std::isnan(progress.loss[row]);
  if (progress.throughput[row] > 0 && of_step) return 1000 / progress.throughput[row];
  if (i == 0 || progress.time_ns[row] == kNone64 || progress.time_ns[rows[i - 1]] == kNone64)
    return 0;
  int64_t steps = progress.step[row] - progress.step[rows[i - 1]];
  bool counts = progress.step[row] != kNone64 && progress.step[rows[i - 1]] != kNone64 && steps > 0;
  if (!counts) return 0;
  return static_cast<double>(progress.time_ns[row] - progress.time_ns[rows[i - 1]]) / kNsPerMs /
         static_cast<double>(steps);
}

struct Slowing {
  size_t from = 0;  // position; 0: none
  double before_ms = 0;
  double after_ms = 0;
};

Slowing FindSlowing(const std::vector<double>& times) {
  constexpr size_t kWarmUp = 3, kFewest = 16, kTail = 5;
  constexpr double kSlower = 1.3, kReported = 1.5;
  Slowing slowing;
  if (times.size() < kFewest) return slowing;
  auto half = times.begin() + static_cast<int64_t>(times.size() / 2);
  slowing.before_ms = Median(std::vector<double>(times.begin() + kWarmUp, half));
  size_t from = times.size();
  while (from > 0 && times[from - 1] > kSlower * slowing.before_ms) --from;
  if (times.size() - from < kTail || from <= kWarmUp) return slowing;
  slowing.after_ms =
      Median(std::vector<double>(times.begin() + static_cast<int64_t>(from), times.end()));
  if (slowing.after_ms > kReported * slowing.before_ms) slowing.from = from;
  return slowing;
}

void FindSlowDown(const Model& model, const Attempt& attempt, std::vector<Finding>& findings) {
  for (const auto& [rank, rows] : attempt.ranks) {
    std::vector<double> times;
    Rows timed;
    for (size_t i = 0; i < rows.size(); ++i) {
      double time = StepTime(model, rows, i);
      if (time <= 0) continue;
      times.push_back(time);
      timed.push_back(rows[i]);
    }
    Slowing slowing = FindSlowing(times);
    if (slowing.from == 0) continue;
    bool is_time = !std::isnan(model.tables.Get<ProgressTable>().step_time_ms[timed[slowing.from]]);
    Finding finding = NewFinding(attempt, "text_progress.slowed", Severity::kWarning);
    finding.headline = fmt::format("Steps are {:.1f} times slower from {} on{}",
                                   slowing.after_ms / slowing.before_ms,
                                   StepInWords(model, timed[slowing.from]), ByRank(rank));
    finding.evidence.push_back(RowsAsEvidence(
        is_time ? fmt::format("{} a step before, {} after",
                              DurationText(static_cast<int64_t>(slowing.before_ms * kNsPerMs)),
                              DurationText(static_cast<int64_t>(slowing.after_ms * kNsPerMs)))
                : "the first slow step",
        {timed[slowing.from]}));
    finding.confidence = 0.7;
    finding.why = "every step from there to the end is slower than those of the first half";
    finding.next_step =
        "Look at what changed then: data, checkpoints, other jobs on these hosts, a "
        "GPU that lowered its clock.";
    findings.push_back(std::move(finding));
    return;  // ranks step together
  }
}

// ---- who is behind

void FindBehind(const Model& model, const Attempt& attempt, std::vector<Finding>& findings) {
  constexpr size_t kFewest = 3;
  const auto& progress = model.tables.Get<ProgressTable>();
  std::map<int64_t, std::vector<int32_t>> by_step;
  std::map<int32_t, size_t> last;
  for (const auto& [rank, rows] : attempt.ranks) {
    int64_t step = progress.step[rows.back()];
    if (rank == kNone32 || step == kNone64) continue;
    by_step[step].push_back(rank);
    last[rank] = rows.back();
  }
  bool one = last.size() >= kFewest && by_step.size() == 2 && by_step.begin()->second.size() == 1;
  if (!one) return;
  int32_t rank = by_step.begin()->second.front();
  Finding finding = NewFinding(attempt, "text_progress.behind", Severity::kInfo);
  finding.ranks = {rank};
  finding.headline = fmt::format("Rank {} reported step {} last, all others step {}", rank,
                                 by_step.begin()->first, by_step.rbegin()->first);
  finding.evidence.push_back(RowsAsEvidence("its last step", {last[rank]}));
  finding.why = "by the steps in their outputs";
  findings.push_back(std::move(finding));
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const Attempt& attempt : CollectAttempts(model)) {
    FindNotFinite(model, attempt, result.findings);
    FindJumps(model, attempt, result.findings);
    FindSlowDown(model, attempt, result.findings);
    FindBehind(model, attempt, result.findings);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_progress",
               .sentence =
                   "When did the loss become nan or jump, and when did steps become slower?",
               .example = "The loss is nan or inf from step 120 on, as rank 0 reports",
               .needs = kNeeds,
               .makes = {}},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_progress
