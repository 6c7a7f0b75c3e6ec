// Causes of lost time in words, and as findings.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "analyses/cost/fixes.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "model/timeline/rank_shares.h"
#include "tables/timeline.h"
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
  bool from_steps = false;    // of some of them; else the whole recordings

  std::string_view Where(bool by_device) const {
    if (from_steps) return "in steps";
    return by_device ? "from first to last work" : "recorded";
  }
};

std::map<JobKey, JobSums> SumJobs(const std::map<RankKey, RankSums>& ranks) {
  std::map<JobKey, JobSums> jobs;
  int64_t row = 0;
  for (const auto& [key, sums] : ranks) {
    JobSums& job = jobs[{key.job, key.attempt}];
    job.wall_ns += sums.times.Wall();
    job.lost_ns += sums.times.Lost();
    job.region_ns += sums.region_ns;
    job.from_steps |= sums.from_steps;
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
      return {"rank {}'s waiting for its own device", "the host waits for the device",
              "Find the call that waits for the device (.item(), copies, synchronize) and move it "
              "out of the step."};
    case State::kAllocation:
      return {"rank {}'s allocation of device memory", "device memory is allocated",
              "Keep device memory between steps: no empty_cache(), "
              "PYTORCH_ALLOC_CONF=expandable_segments:True."};
    case State::kHost:
      return {"rank {}'s host", "the host launches too late",
              "Look at what the host does before it launches: Python, input, other processes on "
              "its cores. For many small kernels try torch.compile or CUDA graphs."};
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
    text += fmt::format(" {}{}", key.function.empty() ? "" : "function ",
                        CodeInWords(key.function, key.file, key.line));
  if (fix.again) text += " again";
  return text + On(fix) + (fix.alone ? " alone" : "");
}

// A cause without the ranks that idle, for sentences that name them elsewhere.
std::string Bare(const FixKey& key, const Fix& fix) {
  if (key.kind == FixKind::kCompile) return Compiling(key, fix);
  if (key.kind == FixKind::kFirstStep)
    return "the first recorded step idles longer than the others";
  if (key.kind == FixKind::kIdle) return std::string(WordsOf(key.reason).idle);
  std::vector<int32_t> ranks = Known(fix.ranks);
  std::string who =
      ranks.size() == 1 ? fmt::format("rank {}", ranks[0]) : fmt::format("{} ranks", ranks.size());
  return fmt::format("{} {} for {}", who, ranks.size() == 1 ? "waits" : "wait",
                     CulpritInWords(key, fix.by_device));
}

}  // namespace

std::string InWords(const FixKey& key, const Fix& fix) {
  const bool is_idle = key.kind == FixKind::kFirstStep || key.kind == FixKind::kIdle;
  return Bare(key, fix) + (is_idle ? On(fix) : "");
}

namespace {

// What a job loses, over all its causes.
struct Loss {
  int64_t lost_ns = 0;
  int64_t unknown_ns = 0;     // of that: for no reason that is recorded
  int64_t first_step_ns = 0;  // of that: what the first recorded step idles longer
  int64_t waiting_ns = 0;     // of that: waiting for a rank of which no reason is recorded
  int64_t wall_ns = 0;        // that it is lost of; 0: no step was recorded
  bool by_device = false;

  // "Devices idle or wait 310 ms of 1.00 s (31 %)". All is never said of less than all.
  std::string InWords() const {
    const std::string_view who = by_device ? "Devices" : "Ranks";
    const double percent = Percent(lost_ns, wall_ns);
    const bool is_nearly_all = lost_ns < wall_ns && percent > 99;
    return fmt::format("{} idle or wait {} of {} ({}{:.0f} %)", who, DurationText(lost_ns),
                       DurationText(wall_ns), is_nearly_all ? ">" : "",
                       is_nearly_all ? 99 : percent);
  }
};

Loss SumLoss(const std::vector<std::pair<FixKey, const Fix*>>& causes, const JobSums& sums) {
  Loss loss;
  for (const auto& [key, cause] : causes) {
    loss.lost_ns += cause->lost_ns;
    loss.by_device |= cause->by_device;
    if (key.reason != State::kUnknown) continue;
    loss.unknown_ns += cause->lost_ns;
    if (key.kind == FixKind::kFirstStep) loss.first_step_ns += cause->lost_ns;
    if (key.kind == FixKind::kLateRank) loss.waiting_ns += cause->lost_ns;
  }
  // Compiling again outside of steps is no part of their wall time.
  if (sums.wall_ns > 0) loss.wall_ns = sums.wall_ns + (loss.lost_ns - sums.lost_ns);
  return loss;
}

// The timelines of a job.
struct Recorded {
  size_t timelines = 0;
  bool has_stacks = false;
};

Recorded LookAtTimelines(const Model& model, const JobKey& job) {
  const auto& timelines = model.tables.Get<TimelineTable>();
  Recorded recorded;
  for (size_t i = 0; i < timelines.size(); ++i) {
    if (timelines.job[i] != job.first || timelines.attempt[i] != job.second) continue;
    ++recorded.timelines;
    recorded.has_stacks |= timelines.has_stacks[i] != 0;
  }
  return recorded;
}

void AddLossEvidence(const Loss& loss, const JobSums& sums, const Recorded& recorded,
                     Finding& finding) {
  if (sums.rows.empty()) return;
  const std::string profiles =
      recorded.timelines > 1 ? fmt::format(" ({} profiles added up)", recorded.timelines) : "";
  finding.evidence.push_back(
      {.text = fmt::format("{} are busy {} of the {} {}{}", loss.by_device ? "devices" : "ranks",
                           DurationText(sums.wall_ns - sums.lost_ns), DurationText(sums.wall_ns),
                           sums.Where(loss.by_device), profiles),
       .table = "cost_rank",
       .rows = sums.rows});
}

// The parts of what has no recorded reason, the largest first: words, and what to do about it.
struct UnknownPart {
  int64_t ns;
  std::string_view words;
  std::string_view next_step;
};

constexpr std::string_view kFirstStep = "{} more in the first step than in others";

std::vector<UnknownPart> UnknownParts(const Loss& loss, bool has_stacks) {
  std::vector<UnknownPart> parts = {
      {loss.first_step_ns, kFirstStep,
       "Judge by the later steps: the first one includes the start of the profiler. Record after a "
       "warm-up (torch.profiler.schedule)."},
      {loss.waiting_ns, "{} waiting for other ranks",
       "See which rank arrives last at which collective: debrief profile comms."},
      {loss.unknown_ns - loss.first_step_ns - loss.waiting_ns, "{} idle without a recorded cause",
       has_stacks
           ? "Look at the timeline where devices idle: what runs on other threads, and other "
             "programs on the device."
           : "Record again with what the host does: torch.profiler with CPU activities and "
             "with_stack=True."}};
  std::erase_if(parts, [](const UnknownPart& part) { return part.ns <= 0; });
  std::ranges::stable_sort(parts, std::ranges::greater(), &UnknownPart::ns);
  return parts;
}

// Less cannot be missed by who adds up rounded figures.
bool IsVisible(int64_t rest_ns, const Loss& loss) { return rest_ns * 100 >= loss.lost_ns; }

// What cannot be attributed is said with its size, and not left to be guessed from small causes.
void AddUnattributed(const JobKey& job, const Loss& loss, const JobSums& sums,
                     const Recorded& recorded, std::vector<Finding>& findings) {
  Finding finding;
  finding.rule = "cost.unattributed";
  finding.job = job.first;
  finding.attempt = job.second;
  const std::vector<UnknownPart> parts = UnknownParts(loss, recorded.has_stacks);
  const bool is_first_step = parts.front().words == kFirstStep;
  finding.headline = is_first_step ? fmt::format("{}; the first step alone adds {}", loss.InWords(),
                                                 DurationText(loss.first_step_ns))
                                   : fmt::format("{}, {} without a recorded cause", loss.InWords(),
                                                 DurationText(loss.unknown_ns));
  std::string text = fmt::format("{} lost:", DurationText(loss.lost_ns));
  for (const UnknownPart& part : parts)
    text += fmt::format("{} {}", &part == parts.data() ? "" : ",",
                        fmt::format(fmt::runtime(part.words), DurationText(part.ns)));
  if (const int64_t known_ns = loss.lost_ns - loss.unknown_ns; IsVisible(known_ns, loss))
    text += fmt::format(", {} by known causes", DurationText(known_ns));
  finding.evidence.push_back({.text = std::move(text), .table = "cost_rank", .rows = sums.rows});
  AddLossEvidence(loss, sums, recorded, finding);
  finding.why = loss.waiting_ns > 0
                    ? "measured; waiting is the time in a collective before its last rank arrives"
                    : "measured on the device";
  finding.next_step = parts.front().next_step;
  findings.push_back(std::move(finding));
}

// A profile of next to nothing tells nothing of where the time goes.
bool HasNoDeviceWork(const Loss& loss) {
  constexpr int64_t kMostNs = 1'000'000;
  const int64_t busy_ns = loss.wall_ns - loss.lost_ns;
  return loss.by_device && loss.wall_ns > 0 && busy_ns < kMostNs && busy_ns * 1000 < loss.wall_ns;
}

void AddNoDeviceWork(const JobKey& job, const Loss& loss, const JobSums& sums,
                     const Recorded& recorded, std::vector<Finding>& findings) {
  Finding finding;
  finding.rule = "cost.unattributed";
  finding.job = job.first;
  finding.attempt = job.second;
  finding.headline = fmt::format("The profile shows almost no work of a device: {} of {} {}",
                                 DurationText(loss.wall_ns - loss.lost_ns),
                                 DurationText(loss.wall_ns), sums.Where(true));
  AddLossEvidence(loss, sums, recorded, finding);
  finding.why = "measured on the device";
  finding.next_step =
      "Record steps that train, with the device's activities: ProfilerActivity.CUDA, after a "
      "warm-up (torch.profiler.schedule).";
  findings.push_back(std::move(finding));
}

// "the host launches too late (31.4 s), device memory is allocated (12.0 s), other causes (2.00
// s)".
std::string CausesInWords(const std::vector<std::pair<FixKey, const Fix*>>& causes,
                          const Loss& loss) {
  constexpr size_t kMost = 3;
  std::string text;
  size_t told = 0;
  int64_t rest_ns = loss.lost_ns;
  for (const auto& [key, fix] : causes) {
    if (told == kMost || !CanBeFixed(key)) break;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", Bare(key, *fix),
                        DurationText(fix->lost_ns));
    rest_ns -= fix->lost_ns;
    ++told;
  }
  const int64_t unknown_ns = std::min(loss.unknown_ns, rest_ns);
  if (IsVisible(rest_ns - unknown_ns, loss))
    text += fmt::format(", other causes ({})", DurationText(rest_ns - unknown_ns));
  if (IsVisible(unknown_ns, loss))
    text += fmt::format(", no recorded cause ({})", DurationText(unknown_ns));
  return text;
}

std::string FixHeadline(const FixKey& key, const Fix& fix, const Loss& loss, bool is_unknown) {
  const std::string ns = DurationText(fix.lost_ns), what = Bare(key, fix);
  if (loss.wall_ns == 0) return fmt::format("{} lost by {}", ns, what);
  if (is_unknown)
    return fmt::format("Largest known cause of lost time: {}, {} of {}", what, ns,
                       DurationText(loss.lost_ns));
  return fmt::format("{}, {} {} {}", loss.InWords(), ns,
                     key.kind == FixKind::kCompile ? "by" : "because", what);
}

}  // namespace

namespace {

// "7 ranks wait for rank 6's host: without this, steps would take 125 ms instead of 136 ms (-8 %)"
std::string GainInWords(const FixKey& key, const Fix& fix, const ReplayedGains& gains) {
  const int64_t gain = fix.gain_ns / gains.steps();
  std::string text = fmt::format("{}: without this, steps would take {} instead of {} (-{:.0f} %)",
                                 InWords(key, fix), DurationText(gains.step_ns() - gain),
                                 DurationText(gains.step_ns()), Percent(gain, gains.step_ns()));
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// What to do about the largest cause, and about the second where it is large, too.
std::string NextStep(const std::vector<std::pair<FixKey, const Fix*>>& causes, const Loss& loss) {
  const auto& [key, fix] = causes[0];
  std::string text(WordsOf(key.reason).next_step);
  if (causes.size() < 2) return text;
  const auto& [second_key, second] = causes[1];
  const bool is_large = 4 * second->lost_ns >= loss.lost_ns;
  if (is_large && CanBeFixed(second_key) && second_key.reason != key.reason)
    text += fmt::format(" {}", WordsOf(second_key.reason).next_step);
  return text;
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
  const Loss loss = SumLoss(ordered, sums);
  const int64_t wall = sums.wall_ns + (loss.lost_ns - sums.lost_ns);
  if (Percent(loss.lost_ns, wall) < 100 * kLeastShare) return;
  const bool is_unknown = wall >= timeline::kShortestToTellNs && loss.unknown_ns >= kLeastLostNs &&
                          2 * loss.unknown_ns > loss.lost_ns;
  const Recorded recorded = LookAtTimelines(model, job);
  if (HasNoDeviceWork(loss)) return AddNoDeviceWork(job, loss, sums, recorded, findings);
  if (is_unknown) AddUnattributed(job, loss, sums, recorded, findings);
  if (!IsWorthFixing(key, *fix, loss, gains)) return;
  const bool is_replayed = fix->gain_ns != kNone64;
  Finding finding;
  finding.rule = "cost.fix_first";
  finding.job = job.first;
  finding.attempt = job.second;
  finding.headline =
      is_replayed ? GainInWords(key, *fix, gains) : FixHeadline(key, *fix, loss, is_unknown);
  Describe(model, key, *fix, finding);
  finding.evidence.push_back(
      {.text = fmt::format("{} lost: {}", DurationText(loss.lost_ns), CausesInWords(ordered, loss)),
       .table = "cost_fix",
       .rows = {first_row}});
  if (loss.wall_ns > 0) AddLossEvidence(loss, sums, recorded, finding);
  // How gaps are charged to causes is a rule of thumb; what nobody knows could be anything.
  finding.confidence = is_unknown ? 0.6 : 0.8;
  finding.why = "each gap is charged to what the launching thread did for most of it";
  if (loss.unknown_ns > 0)
    finding.why += fmt::format("; {:.0f} % of the lost time has no recorded cause",
                               Percent(loss.unknown_ns, loss.lost_ns));
  if (key.kind == FixKind::kCompile) finding.why = "measured by the compiler itself";
  if (is_replayed) {
    finding.confidence = kReplayed;
    finding.why = "the recorded steps, replayed without it; no other cause gains more";
  }
  finding.next_step = NextStep(ordered, loss);
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
        fmt::format("{:.0f} % of the {} time is spent in compiled regions ({} of {})",
                    Percent(sums.region_ns, sums.wall_ns), sums.from_steps ? "step" : "recorded",
                    DurationText(sums.region_ns), DurationText(sums.wall_ns));
    finding.evidence.push_back({.text = "host time inside of compiled regions, by rank",
                                .table = "cost_rank",
                                .rows = sums.rows});
    finding.why = "the profile marks every call of a compiled region";
    findings.push_back(std::move(finding));
  }
}

}  // namespace debrief::analyses::cost
