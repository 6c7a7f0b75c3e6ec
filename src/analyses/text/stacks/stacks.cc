// Where do the processes of a job that hangs stand? Stacks of all ranks, clustered: the rank that
// works on its own while the others wait is the one they wait for, and its line is where to look.
//
// Cost: one pass over stack_dump; stacks are looked at once each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "analyses/analysis.h"
#include "analyses/text/stacks/histories.h"
#include "analyses/text/stacks/judgement.h"
#include "base/text/rank_list.h"
#include "base/text/units.h"
#include "tables/input.h"
#include "tables/process_exit.h"
#include "tables/process_identity.h"
#include "tables/ras_rank.h"
#include "tables/stack_dump.h"

namespace debrief::analyses::text_stacks {

namespace {

constexpr auto kNeeds = kTableNames<StackDumpTable>;
constexpr auto kUses =
    kTableNames<InputTable, ProcessExitTable, ProcessIdentityTable, RasRankTable>;

struct Case {
  const Series& series;
  Judgement judgement;

  const Stand& Last(size_t i) const { return series.processes[i].last(); }
};

// Ranks in order; processes whose rank is not known are left out.
std::vector<int32_t> RanksOf(const Series& series, const std::vector<size_t>& positions) {
  std::set<int32_t> ranks;
  for (size_t i : positions) {
    if (series.processes[i].rank != kNone32) ranks.insert(series.processes[i].rank);
  }
  return {ranks.begin(), ranks.end()};
}

std::string Subject(const Series& series, const std::vector<size_t>& positions) {
  std::vector<int32_t> ranks = RanksOf(series, positions);
  if (ranks.size() == positions.size()) return RanksAsSubject(ranks);
  std::string text = positions.size() == 1 ? "Process" : "Processes";
  for (size_t n = 0; n < positions.size(); ++n) {
    const History& process = series.processes[positions[n]];
    text += n == 0 ? " " : ", ";
    text += process.rank == kNone32 ? fmt::format("{}", process.pid)
                                    : fmt::format("of rank {}", process.rank);
  }
  return text;
}

std::string ErrorInWords(std::string_view error) {
  if (error.starts_with("408")) return "408: GIL held or stopped";
  if (error.starts_with("503")) return "503: process gone";
  return std::string(error.substr(0, 40));
}

// "write_shard (train.py:41)"
std::string PlaceInWords(const Stand& stand) {
  return stand.function.empty() ? stand.place : fmt::format("{} ({})", stand.function, stand.place);
}

// "is in write_shard (train.py:41)", "is in the data loader (train_epoch, train.py:45)".
std::string StandInWords(const Stand& stand, bool one) {
  if (!stand.error.empty()) {
    return fmt::format("{} not answer ({})", one ? "does" : "do", ErrorInWords(stand.error));
  }
  std::string_view is = one ? "is" : "are";
  std::string from =
      stand.function.empty() ? stand.place : fmt::format("{}, {}", stand.function, stand.place);
  switch (stand.doing) {
    case Doing::kStartUp:
      return fmt::format("{} importing modules ({})", is, from);
    case Doing::kWait:
    case Doing::kSync:
      return fmt::format("{} in {} ({})", one ? "waits" : "wait", stand.what, from);
    case Doing::kWork:
      return fmt::format("{} in {} ({})", is, stand.what, from);
    default:
      return fmt::format("{} in {}", is, PlaceInWords(stand));
  }
}

// "all_reduce (train.py:59)", as far as all of them agree.
std::string WaitInWords(const Case& each) {
  std::set<std::string_view> whats, places;
  for (size_t i : each.judgement.waiters) {
    whats.insert(each.Last(i).what);
    places.insert(each.Last(i).place);
  }
  const Stand& first = each.Last(each.judgement.waiters.front());
  bool one_place = places.size() == 1;
  if (!each.judgement.seen) return one_place ? PlaceInWords(first) : "other lines";
  std::string_view what = whats.size() == 1 ? std::string_view(first.what) : "communication";
  return one_place ? fmt::format("{} ({})", what, first.place) : std::string(what);
}

std::string WaitersInWords(const Case& each) {
  const Judgement& judged = each.judgement;
  size_t waiters = judged.waiters.size();
  bool all_others = waiters + judged.suspects.size() == judged.known;
  std::vector<int32_t> ranks = RanksOf(each.series, judged.waiters);
  std::string who = all_others && waiters > 1 ? fmt::format("the other {}", waiters)
                    : all_others              ? "the other one"
                    : ranks.size() == waiters ? RanksInWords(ranks)
                                              : Plural(waiters, "process");
  return fmt::format("{} {} in {}", who, waiters == 1 ? "waits" : "wait", WaitInWords(each));
}

// Somebody asks these for stacks because the job hangs; others print by the clock.
bool IsAskedFor(const Model& model, const Case& each) {
  if (each.series.source == "torch_debug") return false;
  const auto& table = model.tables.Get<StackDumpTable>();
  size_t row = each.Last(each.judgement.suspects.front()).row;
  // Files with a time in their name are written by the clock.
  return table.time_ns[row] == kNone64 &&
         !model.pools.Text(table.reason[row]).starts_with("Timeout");
}

// Work of its own, or no answer, three times in a row is no accident. A line of the user's may be
// where a rank of a healthy job stands whenever somebody looks (rank 0 reads a loss, say): it must
// have been elsewhere before.
bool IsProven(const Case& each) {
  const Judgement& judged = each.judgement;
  return judged.still >= 3 &&
         std::all_of(judged.suspects.begin(), judged.suspects.end(), [&](size_t i) {
           const Stand& last = each.Last(i);
           bool definite =
               !last.error.empty() || last.doing == Doing::kWork || last.doing == Doing::kStartUp;
           return definite || each.series.processes[i].moved_before();
         });
}

void SetConfidence(const Model& model, const Case& each, Finding& finding) {
  const Judgement& judged = each.judgement;
  bool stuck = IsProven(each) || (judged.still >= 2 && IsAskedFor(model, each));
  finding.severity = stuck ? Severity::kError : Severity::kWarning;
  double base = judged.still >= 3 ? 0.9 : judged.still == 2 ? 0.8 : 0.55;
  if (!judged.seen) base -= 0.05;
  if (judged.outcome == Outcome::kDiverges) base -= 0.25;
  if (judged.suspects.size() > 1) base -= 0.1;
  finding.confidence = base;
  finding.why =
      judged.still > 1
          ? fmt::format("the last {} stack dumps are the same, and {} of {} processes wait",
                        judged.still, judged.waiters.size(), judged.known)
          : fmt::format(
                "{} of {} processes wait in this one dump; a second would show whether it "
                "moves",
                judged.waiters.size(), judged.known);
  if (!judged.seen) {
    finding.why +=
        "; Python stacks do not show calls into C: that the others wait follows from all being at "
        "one line";
  }
}

std::string PathInWords(const Stand& stand) {
  constexpr size_t kMostFrames = 6;
  std::string text;
  std::string_view rest = stand.key;
  for (size_t n = 0; n < kMostFrames && !rest.empty(); ++n) {
    size_t end = std::min(rest.find('\n'), rest.size());
    text += (n == 0 ? "" : " < ") + std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return rest.empty() ? text : text + " < ...";
}

// "rank 2" of "Rank 2": inside of a sentence.
std::string LowerFirst(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

void AddEvidence(const Case& each, size_t position, Finding& finding) {
  const History& process = each.series.processes[position];
  Evidence evidence{"", "stack_dump", {}};
  size_t still = process.still();
  for (size_t i = process.stands.size() - still; i < process.stands.size(); ++i)
    evidence.rows.push_back(static_cast<int64_t>(process.stands[i].row));
  std::string dumps = still > 1 ? fmt::format(", the same in {} dumps", still) : "";
  const Stand& last = process.last();
  evidence.text =
      last.error.empty()
          ? fmt::format("stack of {}{}: {}{}{}", LowerFirst(Subject(each.series, {position})),
                        dumps, last.what, last.what.empty() ? "" : " < ", PathInWords(last))
          : fmt::format("{} gave {} in place of a stack{}", Subject(each.series, {position}),
                        ErrorInWords(last.error), dumps);
  finding.evidence.push_back(std::move(evidence));
  if (!last.file.empty() && last.line > 0)
    finding.source.push_back({process.rank, std::string(last.file), last.line});
}

// One line for all who stand in the same place.
void AddWaiters(const Case& each, Finding& finding) {
  std::map<std::string_view, std::vector<size_t>> clusters;
  for (size_t i : each.judgement.waiters) clusters[each.Last(i).key].push_back(i);
  constexpr size_t kMostClusters = 4;
  size_t told = 0;
  for (const auto& [key, members] : clusters) {
    Evidence evidence{"", "stack_dump", {}};
    for (size_t i : members) evidence.rows.push_back(static_cast<int64_t>(each.Last(i).row));
    evidence.text = fmt::format("{} {}", Subject(each.series, members),
                                StandInWords(each.Last(members.front()), members.size() == 1));
    if (told++ < kMostClusters) finding.evidence.push_back(std::move(evidence));
  }
}

std::string_view RuleOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kNoAnswer:
      return "text_stacks.no_answer";
    case Outcome::kDiverges:
      return "text_stacks.diverges";
    case Outcome::kAllWait:
      return "text_stacks.all_wait";
    default:
      return "text_stacks.alone";
  }
}

Finding ToFinding(const Model& model, const Case& each) {
  const Judgement& judged = each.judgement;
  Finding finding;
  finding.rule = RuleOf(judged.outcome);
  finding.role = Role::kCause;
  finding.job = each.series.job;
  finding.attempt = each.series.attempt;
  finding.ranks = RanksOf(each.series, judged.suspects);
  const Stand& stand = each.Last(judged.suspects.front());
  finding.headline =
      fmt::format("{} {}; {}", Subject(each.series, judged.suspects),
                  StandInWords(stand, judged.suspects.size() == 1), WaitersInWords(each));
  constexpr size_t kMostSuspects = 4;
  for (size_t n = 0; n < judged.suspects.size() && n < kMostSuspects; ++n)
    AddEvidence(each, judged.suspects[n], finding);
  AddWaiters(each, finding);
  SetConfidence(model, each, finding);
  finding.next_step =
      !stand.error.empty()
          ? "See what holds that process: native code that holds the GIL, a debugger, a "
            "stopped or dead process."
          : fmt::format("Look at {}: what does it wait for there: a file, a lock, another process?",
                        PlaceInWords(stand));
  return finding;
}

Finding AllWait(const Case& each) {
  Finding finding;
  finding.rule = RuleOf(Outcome::kAllWait);
  finding.severity = Severity::kInfo;
  finding.role = Role::kObservation;
  finding.job = each.series.job;
  finding.attempt = each.series.attempt;
  finding.headline = fmt::format("All {} processes wait in {}; no rank differs",
                                 each.judgement.known, WaitInWords(each));
  AddWaiters(each, finding);
  finding.confidence = 0.7;
  finding.why = fmt::format("the stacks are the same in the last {} dumps", each.judgement.still);
  finding.next_step =
      "Compare what they wait for: Flight Recorder dumps show a collective that differs; else look "
      "at the network.";
  return finding;
}

// Dumps of different tools about one attempt: the surest is told, others that agree support it.
void AddBest(const Model& model, std::vector<Case>& cases, std::vector<Finding>& findings) {
  std::optional<Finding> best, all_wait;
  for (const Case& each : cases) {
    const Judgement& judged = each.judgement;
    if (judged.outcome == Outcome::kAllWait && judged.still > 1 && judged.seen && !all_wait)
      all_wait = AllWait(each);
    if (judged.suspects.empty() || judged.outcome == Outcome::kNobody) continue;
    Finding finding = ToFinding(model, each);
    bool better = !best || std::pair(finding.severity, finding.confidence) >
                               std::pair(best->severity, best->confidence);
    if (better && best) std::swap(*best, finding);
    if (!best) {
      best = std::move(finding);
    } else if (best->ranks == finding.ranks && !best->ranks.empty()) {
      best->confidence = 1 - (1 - best->confidence) * (1 - finding.confidence / 2);
      best->why += "; stacks of another tool show the same";
    }
  }
  if (best) {
    findings.push_back(*std::move(best));
  } else if (all_wait) {
    findings.push_back(*std::move(all_wait));
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  std::vector<Series> all = CollectSeries(model);
  std::map<std::pair<int32_t, int32_t>, std::vector<Case>> attempts;
  for (const Series& series : all)
    attempts[{series.job, series.attempt}].push_back({series, Judge(series)});
  for (auto& [attempt, cases] : attempts) AddBest(model, cases, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_stacks",
               .sentence =
                   "Where does each process of a job that hangs stand, and who stands alone?",
               .example = "Rank 2 is in write_shard (train.py:41); the other 7 wait in all_reduce "
                          "(train.py:59)",
               .needs = kNeeds,
               .makes = {},
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_stacks
