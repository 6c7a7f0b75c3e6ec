#include "analyses/profile/idle/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/units.h"
#include "model/timeline/rank_shares.h"
#include "tables/profile_idle.h"

namespace debrief::analyses::profile_idle {

namespace {

using timeline::JobShares;
using timeline::RankShare;

// From which share of the device time on a rule speaks, and from which it warns.
struct Limits {
  double report;
  double warn;
};
// A fifth can be won back by launching less or earlier; with half, the device is not what the job
// waits for.
constexpr Limits kHostLimits = {0.20, 0.50};
// A twentieth is where TensorBoard's plug-in begins to recommend more workers.
constexpr Limits kDataLimits = {0.05, 0.15};
constexpr Limits kSyncLimits = {0.05, 0.15};
// Kernels shorter than about a launch (5 to 10 us) leave gaps however fast the host is.
constexpr Limits kTinyLimits = {0.20, 2};  // never warns: how small kernels are is often given
constexpr int64_t kTinyKernelNs = 10'000;
constexpr int64_t kManyKernels = 1000;
// A wait that comes once is start-up or the end of the recording.
constexpr int64_t kRepeats = 3;
constexpr int64_t kRepeatedSteps = 2;

int64_t IdleOf(const IdleStory& story, Cause cause) {
  return story.idle_ns[static_cast<size_t>(cause)];
}

// Rows of profile_idle that tell of the cause.
std::vector<int64_t> RowsOf(const IdleStory& story, std::string_view category, const Part& part) {
  const auto& rows = part.tables.Get<ProfileIdleTable>();
  std::vector<int64_t> found;
  for (int64_t row = story.first_row; row < story.end_row; ++row) {
    if (part.pools.Text(rows.category[static_cast<size_t>(row)]) == category) found.push_back(row);
  }
  return found;
}

void AddEvidence(std::string text, std::vector<int64_t> rows, Finding& finding) {
  finding.evidence.push_back(
      {.text = std::move(text), .table = "profile_idle", .rows = std::move(rows)});
}

// A sentence that no row shows.
void AddNote(std::string text, Finding& finding) {
  if (!text.empty()) finding.evidence.push_back({.text = std::move(text), .table = {}, .rows = {}});
}

// One rule: the jobs whose share is large enough, with the story of the worst timeline.
class Rule {
 public:
  Rule(std::string_view name, Limits limits, const std::vector<IdleStory>& stories)
      : name_(name), limits_(limits), stories_(stories) {}

  // `idle`: what the rule counts of a story; `describe` fills in headline, evidence and advice.
  template <typename Idle, typename Describe>
  void Apply(Idle idle, Describe describe, std::vector<Finding>& findings) const {
    std::vector<RankShare> shares;
    for (size_t i = 0; i < stories_.size(); ++i) {
      // Where graphs ran unseen, idle time is not known.
      if (IdleOf(stories_[i], Cause::kGraph) > 0) continue;
      shares.push_back({.who = stories_[i].who,
                        .part_ns = idle(stories_[i]),
                        .whole_ns = stories_[i].span_ns,
                        .row = static_cast<int64_t>(i)});
    }
    for (const JobShares& job : SharesByJob(shares)) {
      if (job.worst().fraction() < limits_.report) continue;
      Finding finding = Start(job);
      describe(stories_[static_cast<size_t>(job.worst().row)], job, finding);
      AddNote(job.AmountInWords() + " between the first and the last work of the device", finding);
      AddNote(job.OverallInWords(), finding);
      findings.push_back(std::move(finding));
    }
  }

 private:
  Finding Start(const JobShares& job) const {
    Finding finding;
    finding.rule = name_;
    finding.severity = job.SeverityFrom(limits_.warn);
    finding.job = job.worst().who.job;
    finding.attempt = job.worst().who.attempt;
    finding.ranks = job.RanksToBlame(limits_.report);
    return finding;
  }

  std::string_view name_;
  Limits limits_;
  const std::vector<IdleStory>& stories_;
};

void SetConfidence(const IdleStory& story, Finding& finding) {
  finding.confidence = story.has_stacks ? 0.6 : 0.8;
  finding.why = story.has_stacks
                    ? "recorded with Python stacks, which make the host slower than it is without"
                    : "gaps between the work of the device, by what the launching thread did in "
                      "them; profiling itself slows the host a little";
}

void DescribeHost(const IdleStory& story, const JobShares& job, const Part& part,
                  Finding& finding) {
  finding.headline =
      fmt::format("The GPU idles {} because the host launches too late", job.ShareInWords());
  std::string what = story.busiest.empty()
                         ? "nothing that the profile shows (Python, or outside of ops)"
                         : story.busiest;
  AddEvidence(fmt::format("the launching thread was mostly in {}: {} of such gaps", what,
                          DurationText(story.busiest_ns)),
              RowsOf(story, "host", part), finding);
  SetConfidence(story, finding);
  finding.next_step =
      "Launch less (torch.compile, CUDA graphs, fused optimizers) or earlier; see the longest "
      "gaps: debrief query OUT \"SELECT * FROM profile_gap WHERE cause = 'host'\"";
}

void DescribeData(const IdleStory& story, const JobShares& job, const Part& part,
                  Finding& finding) {
  finding.headline =
      fmt::format("The GPU idles {} because it waits for the data loader", job.ShareInWords());
  AddEvidence("gaps in which the launching thread spent most of the time in a DataLoader",
              RowsOf(story, "data_loading", part), finding);
  finding.confidence = 0.9;
  finding.why = "the thread that launches next was inside of the data loader";
  finding.next_step = "Raise num_workers and prefetch_factor, or make the samples cheaper.";
}

void DescribeSync(const IdleStory& story, const JobShares& job, const Part& part,
                  Finding& finding) {
  const Waits& worst = story.waits.front();
  std::string where = worst.op.empty() || worst.op == worst.call
                          ? worst.call
                          : fmt::format("{} in {}", worst.call, worst.op);
  if (!worst.frame.empty()) where += fmt::format(" at {}", worst.frame);
  finding.headline = fmt::format("The GPU idles {} behind {}", job.ShareInWords(), where);
  finding.op = worst.op;
  AddEvidence(fmt::format("{} gaps behind it{}, {} together", worst.gaps,
                          worst.steps > 0 ? fmt::format(" in {} steps", worst.steps) : "",
                          DurationText(worst.idle_ns)),
              RowsOf(story, "sync", part), finding);
  AddNote("the host waits for the device in this call, and launches nothing meanwhile", finding);
  SetConfidence(story, finding);
  finding.next_step =
      "Keep the value on the device (no .item(), .cpu() or print of tensors in the loop), read it "
      "every so many steps, or copy with non_blocking=True.";
}

void DescribeTiny(const IdleStory& story, const JobShares& job, const Part& part,
                  Finding& finding) {
  finding.headline = fmt::format("The GPU idles {} between tiny kernels: the median takes {}",
                                 job.ShareInWords(), DurationText(story.median_kernel_ns));
  std::vector<int64_t> rows = RowsOf(story, "host", part);
  std::vector<int64_t> waits = RowsOf(story, "kernel_wait", part);
  rows.insert(rows.end(), waits.begin(), waits.end());
  AddEvidence("gaps of at most 50 us that the host or the pace of launching leaves",
              std::move(rows), finding);
  AddNote(fmt::format("{} kernels, most of them shorter than their launches", story.kernels),
          finding);
  SetConfidence(story, finding);
  finding.next_step =
      "Fuse them (torch.compile), replay them (CUDA graphs), or work on larger batches.";
}

bool Repeats(const IdleStory& story) {
  if (story.waits.empty() || story.waits.front().gaps < kRepeats) return false;
  return !story.has_steps || story.waits.front().steps >= kRepeatedSteps;
}

bool IsTiny(const IdleStory& story) {
  return story.kernels >= kManyKernels && story.median_kernel_ns < kTinyKernelNs;
}

}  // namespace

void AddFindings(const std::vector<IdleStory>& stories, const Part& part,
                 std::vector<Finding>& findings) {
  auto with_part = [&part](auto describe) {
    return [&part, describe](const IdleStory& story, const JobShares& job, Finding& finding) {
      describe(story, job, part, finding);
    };
  };
  Rule("profile.host_bound", kHostLimits, stories)
      .Apply([](const IdleStory& story) { return IdleOf(story, Cause::kHost); },
             with_part(DescribeHost), findings);
  Rule("profile.data_loading", kDataLimits, stories)
      .Apply([](const IdleStory& story) { return IdleOf(story, Cause::kDataLoading); },
             with_part(DescribeData), findings);
  Rule("profile.sync_in_loop", kSyncLimits, stories)
      .Apply([](const IdleStory& story) { return Repeats(story) ? story.waits[0].idle_ns : 0; },
             with_part(DescribeSync), findings);
  Rule("profile.tiny_kernels", kTinyLimits, stories)
      .Apply([](const IdleStory& story) { return IsTiny(story) ? story.launch_gaps_ns : 0; },
             with_part(DescribeTiny), findings);
}

}  // namespace debrief::analyses::profile_idle
