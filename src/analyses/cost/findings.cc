// Causes of lost time in words, and as findings.
#include <fmt/format.h>

#include "analyses/cost/fixes.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/timeline/rank_shares.h"
#include "torch/code_words.h"

namespace debrief::analyses::cost {

namespace {

// Less is not worth a look: every run loses some.
constexpr int64_t kLeastLostNs = 10'000'000;
constexpr double kLeastShare = 0.05;
constexpr double kLeastGain = 0.03;  // of a step: replays of healthy jobs differ by less
constexpr double kReplayed = 0.8;    // confidence

struct JobSums {
  int64_t wall_ns = 0, lost_ns = 0, region_ns = 0;
  std::vector<int32_t> ranks;
  std::vector<int64_t> rows;  // of cost_rank
};

std::map<JobKey, JobSums> SumJobs(const std::map<RankKey, RankSums>& ranks) {
  std::map<JobKey, JobSums> jobs;
  int64_t row = 0;
  for (const auto& [key, sums] : ranks) {
    JobSums& job = jobs[{key.job, key.attempt}];
    job.wall_ns += sums.times.Wall();
    job.lost_ns += sums.times.Lost();
    job.region_ns += sums.region_ns;
    if (key.rank != kNone32) job.ranks.push_back(key.rank);
    job.rows.push_back(row++);
  }
  return jobs;
}

double Percent(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// What to say of lost time by its state: whom the others wait for, why devices idle, what to do.
struct Words {
  std::string_view culprit = "rank {} (reason not recorded)";
  std::string_view idle = "devices idle, reason not recorded";
  std::string_view next_step = "Look at the timeline of these ranks where the time is lost.";
};

Words WordsOf(State state) {
  switch (state) {
    case State::kCompute:
      return {.culprit = "rank {}'s GPU work",
              .next_step =
                  "Compare the kernels of this rank with those of a peer: more work, or a "
                  "slow GPU?"};
    case State::kTransfer:
      return {.culprit = "rank {}'s other communication"};
    case State::kCompile:
      return {.culprit = "rank {}'s compiling",
              .next_step =
                  "See in the compile view why it is compiled at this time, and compile "
                  "before the steps begin."};
    case State::kData:
      return {"rank {}'s data loading", "devices wait for the data loader",
              "Look at the data loader: storage, workers, uneven samples?"};
    case State::kSync:
      return {"rank {}'s waiting for its own device",
              "the host waits for the device before it launches more",
              "Find the call that waits for the device (.item(), copies, synchronize) and move it "
              "out of the step."};
    case State::kAllocation:
      return {"rank {}'s allocation of device memory", "device memory is allocated",
              "Keep device memory from being freed and allocated again in every step."};
    case State::kHost:
      return {"rank {}'s host", "the host launches too late",
              "Look at what the host does before it launches: Python, input, other processes on "
              "its cores; CUDA graphs or torch.compile where it is many small launches."};
    case State::kPace:
      return {.culprit = "the time between rank {}'s kernels",
              .idle = "time passes between queued kernels"};
    default:
      return {};
  }
}

std::vector<int32_t> Known(const std::set<int32_t>& ranks) {
  std::vector<int32_t> known(ranks.begin(), ranks.end());
  std::erase(known, kNone32);
  return known;
}

void Describe(const Model& model, const FixKey& key, const Fix& fix, Finding& finding) {
  if (key.kind == FixKind::kLateRank) {
    finding.ranks = {key.culprit};
  } else {
    finding.ranks = Known(fix.ranks);
  }
  int64_t most = 0;
  for (const auto& [where, ns] : fix.where) {
    if (ns <= most) continue;
    most = ns;
    finding.op = std::string(model.pools.Text(where.second));
    finding.groups = {
        {.name = std::string(model.pools.Text(where.first)), .desc = {}, .ranks = {}}};
  }
  for (const auto& [compile_id, ns] : fix.compilations)
    finding.compile_ids.push_back(std::string(compile_id));
  if (!key.file.empty() && key.line != kNone32)
    finding.source.push_back({.rank = finding.ranks.empty() ? kNone32 : finding.ranks[0],
                              .file = std::string(key.file),
                              .line = key.line});
}

// What the others wait for.
std::string CulpritInWords(const FixKey& key, bool by_device) {
  const bool on_host = key.reason == State::kCompute && !by_device;
  return fmt::format(fmt::runtime(on_host ? "rank {}'s computing" : WordsOf(key.reason).culprit),
                     key.culprit);
}

std::string On(const Fix& fix) {
  std::vector<int32_t> ranks = Known(fix.ranks);
  return ranks.empty() ? std::string() : " on " + RanksInWords(ranks);
}

std::string Compiling(const FixKey& key, const Fix& fix) {
  std::string text = "compiling";
  if (!key.function.empty() || !key.file.empty())
    text += " " + CodeInWords(key.function, key.file, key.line);
  if (fix.again) text += " again";
  return text + On(fix) + (fix.alone ? " alone" : "");
}

}  // namespace

std::string InWords(const FixKey& key, const Fix& fix) {
  if (key.kind == FixKind::kCompile) return Compiling(key, fix);
  if (key.kind == FixKind::kFirstStep)
    return "the first recorded step idles longer than the others" + On(fix);
  if (key.kind == FixKind::kIdle) return std::string(WordsOf(key.reason).idle) + On(fix);
  std::vector<int32_t> ranks = Known(fix.ranks);
  std::string who =
      ranks.size() == 1 ? fmt::format("rank {}", ranks[0]) : fmt::format("{} ranks", ranks.size());
  return fmt::format("{} {} for {}", who, ranks.size() == 1 ? "waits" : "wait",
                     CulpritInWords(key, fix.by_device));
}

namespace {

// What a job loses, over all its causes.
struct Loss {
  int64_t lost_ns = 0;
  int64_t unknown_ns = 0;  // of that: for no reason that is recorded
  int64_t wall_ns = 0;     // that it is lost of; 0: no step was recorded

  // "31 % of step time is lost (360 ms of 1.16 s)"
  std::string InWords() const {
    if (wall_ns <= 0) return fmt::format("{} lost", DurationText(lost_ns));
    return fmt::format("{:.0f} % of step time is lost ({} of {})", Percent(lost_ns, wall_ns),
                       DurationText(lost_ns), DurationText(wall_ns));
  }
};

void AddLossEvidence(const JobSums& sums, Finding& finding) {
  if (sums.rows.empty()) return;
  finding.evidence.push_back(
      {.text = fmt::format("{} of {} wall time in steps is lost", DurationText(sums.lost_ns),
                           DurationText(sums.wall_ns)),
       .table = "cost_rank",
       .rows = sums.rows});
}

// What cannot be attributed is said with its size, and not left to be guessed from small causes.
void AddUnattributed(const JobKey& job, const Loss& loss, const JobSums& sums,
                     std::vector<Finding>& findings) {
  Finding finding;
  finding.rule = "cost.unattributed";
  finding.job = job.first;
  finding.attempt = job.second;
  finding.headline = fmt::format("{}, {} of it for no recorded reason", loss.InWords(),
                                 DurationText(loss.unknown_ns));
  AddLossEvidence(sums, finding);
  finding.confidence = 1;
  finding.why = "time in which no device works and nothing recorded says why";
  finding.next_step =
      "Record again with what the host does: torch.profiler with CPU activities and "
      "with_stack=True.";
  findings.push_back(std::move(finding));
}

}  // namespace

namespace {

// "7 ranks wait for rank 6's host: without it steps take 125 ms instead of 136 ms (-8 %)"
std::string GainInWords(const FixKey& key, const Fix& fix, const ReplayedGains& gains) {
  const int64_t gain = fix.gain_ns / gains.steps();
  std::string text = fmt::format("{}: without it steps take {} instead of {} (-{:.0f} %)",
                                 InWords(key, fix), DurationText(gains.step_ns() - gain),
                                 DurationText(gains.step_ns()), Percent(gain, gains.step_ns()));
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// The costliest of a job that was not replayed, in words.
std::string LossInWords(const FixKey& key, const Fix& fix, const Loss& loss, bool is_unknown) {
  const std::string ns = DurationText(fix.lost_ns);
  if (loss.wall_ns == 0) return fmt::format("{} lost by {}", ns, InWords(key, fix));
  if (is_unknown)
    return fmt::format("Largest known cause of lost time: {}, {} of {}", InWords(key, fix), ns,
                       DurationText(loss.lost_ns));
  return fmt::format("{}, {} {} {}", loss.InWords(), ns,
                     key.kind == FixKind::kCompile ? "by" : "because", InWords(key, fix));
}

// Whether it is worth a look.
bool IsWorthFixing(const FixKey& key, const Fix& fix, const Loss& loss,
                   const ReplayedGains& gains) {
  if (!CanBeFixed(key) || fix.lost_ns < kLeastLostNs) return false;
  if (fix.gain_ns == kNone64) return Percent(fix.lost_ns, loss.lost_ns) >= 100 * kLeastShare;
  return Percent(fix.gain_ns, gains.steps() * gains.step_ns()) >= 100 * kLeastGain;
}

}  // namespace

void AddFixFinding(const Model& model, const JobKey& job, const Fixes& fixes,
                   const ReplayedGains& gains, const std::map<RankKey, RankSums>& ranks,
                   int64_t first_row, std::vector<Finding>& findings) {
  std::vector<std::pair<FixKey, const Fix*>> ordered = Ordered(fixes);
  if (ordered.empty()) return;
  const auto& [key, fix] = ordered[0];
  const JobSums sums = SumJobs(ranks)[job];
  Loss loss;
  for (const auto& [each, cause] : ordered) {
    loss.lost_ns += cause->lost_ns;
    if (each.reason == State::kUnknown) loss.unknown_ns += cause->lost_ns;
  }
  // Compiling again outside of steps is no part of their wall time.
  const int64_t wall = sums.wall_ns + (loss.lost_ns - sums.lost_ns);
  loss.wall_ns = sums.wall_ns > 0 ? wall : 0;
  if (Percent(loss.lost_ns, wall) < 100 * kLeastShare) return;
  const bool is_unknown = wall >= timeline::kShortestToTellNs && loss.unknown_ns >= kLeastLostNs &&
                          2 * loss.unknown_ns > loss.lost_ns;
  if (is_unknown) AddUnattributed(job, loss, sums, findings);
  if (!IsWorthFixing(key, *fix, loss, gains)) return;
  const bool is_replayed = fix->gain_ns != kNone64;
  Finding finding;
  finding.rule = "cost.fix_first";
  finding.job = job.first;
  finding.attempt = job.second;
  finding.headline =
      is_replayed ? GainInWords(key, *fix, gains) : LossInWords(key, *fix, loss, is_unknown);
  Describe(model, key, *fix, finding);
  finding.evidence.push_back(
      {.text = fmt::format(
           "{}: {} of {} ({:.0f} %)",
           is_replayed ? "time that ranks lose to it" : "the costliest cause of lost time",
           DurationText(fix->lost_ns), DurationText(loss.lost_ns),
           Percent(fix->lost_ns, loss.lost_ns)),
       .table = "cost_fix",
       .rows = {first_row}});
  AddLossEvidence(sums, finding);
  finding.confidence = is_replayed ? kReplayed : 1 - Percent(loss.unknown_ns, loss.lost_ns) / 100;
  finding.why = is_replayed
                    ? "the recorded steps, replayed without it; of all causes it gains most"
                    : fmt::format("the recording has the cause of {:.0f} % of the lost time",
                                  100 - Percent(loss.unknown_ns, loss.lost_ns));
  finding.next_step = WordsOf(key.reason).next_step;
  findings.push_back(std::move(finding));
}

void AddCompiledShares(const std::map<RankKey, RankSums>& ranks, std::vector<Finding>& findings) {
  for (const auto& [job, sums] : SumJobs(ranks)) {
    if (sums.region_ns <= 0 || Percent(sums.region_ns, sums.wall_ns) < 100 * kLeastShare) continue;
    Finding finding;
    finding.rule = "cost.compiled_share";
    finding.job = job.first;
    finding.attempt = job.second;
    finding.ranks = sums.ranks;
    finding.headline =
        fmt::format("{:.0f} % of the step time is spent in compiled regions ({} of {})",
                    Percent(sums.region_ns, sums.wall_ns), DurationText(sums.region_ns),
                    DurationText(sums.wall_ns));
    finding.evidence.push_back({.text = "host time inside of compiled regions, by rank",
                                .table = "cost_rank",
                                .rows = sums.rows});
    finding.why = "the profile marks every call of a compiled region";
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::cost
