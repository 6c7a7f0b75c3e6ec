// What the outputs of the ranks tell about a job that hangs or dies, without any dump: who died,
// who is silent, whose watchdog tells another work than those of its peers. The first of these that
// applies is the answer; that ranks ran into their time limits follows from it.
//
// Cost: one pass over text_event, then the few rows of watchdogs.
#include "analyses/text/hang/hang.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/analysis.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "tables/comm_group.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/process_identity.h"
#include "tables/progress.h"
#include "tables/rank.h"
#include "tables/tail_line.h"
#include "tables/text_event.h"
#include "torch/code_words.h"
#include "torch/log_message.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr auto kNeeds = kTableNames<TextEventTable>;
constexpr auto kUses =
    kTableNames<JobTable, RankTable, InputTable, ProcessExitTable, ProcessIdentityTable,
                ProgressTable, TailLineTable, CommGroupTable>;

void Judge(const Model& model, const Talk& talk, std::vector<Finding>& findings) {
  Scene scene{model, talk, CollectWorks(model, talk)};
  size_t first = findings.size();
  for (auto guess :
       {FindStaleSignal, FindGpuFault,      FindFingerprints, FindSizeMismatch,   FindOnlyAlive,
        FindDeaths,      FindEngineFailure, FindPortFault,    FindRefused,        FindLostWorker,
        FindExit,        FindOnlyQuiet,     FindStuck,        FindAbsent,         FindDifferences,
        FindSilent,      FindRepeating,     FindOddSite,      FindOddCounter,     FindBusyGpu,
        FindLastToCome,  FindLinkFault,     FindStuckEngine,  FindWrappedFailure, FindEnded,
        FindDeadEngine}) {
    guess(scene, findings);
    if (findings.size() > first) break;
  }
  size_t causes = findings.size() - first;
  AddTimeouts(scene, findings);
  if (findings.size() == first + causes) return;
  Finding& timeouts = findings.back();
  if (causes == 0) {  // nobody to blame is known, and still the job hung
    timeouts.severity = Severity::kError;
    timeouts.role = Role::kCause;
    timeouts.ranks.clear();
    timeouts.confidence = 0.4;
    timeouts.why += "; the texts do not say for which rank they waited";
    timeouts.next_step =
        "Flight Recorder dumps (TORCH_FR_BUFFER_SIZE) or stacks of all ranks (py-spy) would show "
        "which rank did not join.";
    return;
  }
  timeouts.role = Role::kConsequence;
  findings[first].explains.push_back(findings.size() - 1);
}

// An attempt that a signal of the one before ended follows from what ended that.
void LinkAttempts(std::vector<Finding>& findings) {
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].rule != "text_hang.stale_signal") continue;
    auto cause = std::find_if(findings.begin(), findings.end(), [&](const Finding& each) {
      return each.job == findings[i].job && each.attempt == findings[i].attempt - 1 &&
             each.role == Role::kCause && each.severity == Severity::kError;
    });
    if (cause == findings.end()) continue;
    findings[i].role = Role::kConsequence;
    cause->explains.push_back(i);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const Talk& talk : CollectTalks(model)) Judge(model, talk, result.findings);
  LinkAttempts(result.findings);
  return {};
}

std::string NameOfInput(const Model& model, int32_t input) {
  const auto& inputs = model.tables.Get<InputTable>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs.input[i] == input) return std::string(FileName(model.pools.Text(inputs.path[i])));
  }
  return "a text";
}

// " (train.py:53)": the call of gloo that gave up. A watchdog names the work instead.
std::string SiteOfRow(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const std::string_view file = scene.model.pools.Text(events.file[row]);
  if (file.empty() || scene.model.pools.Text(events.kind[row]) == "watchdog_timeout") return {};
  return fmt::format(" ({})", debrief::CodeInWords("", file, events.file_line[row]));
}

// "line 5: " of a text; JSON has no lines.
std::string LineInWords(int64_t line, std::string_view before) {
  return line == kNone64 ? ":" : fmt::format("{}line {}:", before, line);
}

}  // namespace

Finding NewFinding(const Scene& scene, std::string_view rule) {
  Finding finding;
  finding.rule = rule;
  finding.severity = Severity::kError;
  finding.role = Role::kCause;
  finding.job = scene.talk.job;
  finding.attempt = scene.talk.attempt;
  return finding;
}

Evidence LineAsEvidence(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  std::string where = events.rank[row] == kNone32
                          ? NameOfInput(scene.model, events.input[row])
                          : fmt::format("output of rank {}", events.rank[row]);
  return {fmt::format("{}{} {}", where, LineInWords(events.line[row], ", "),
                      QuotedMessage(scene.model.pools.Text(events.text[row]))),
          "text_event",
          {static_cast<int64_t>(row)}};
}

Evidence ExitAsEvidence(const Scene& scene, size_t row) {
  const auto& exits = scene.model.tables.Get<ProcessExitTable>();
  const std::string_view said_by = scene.model.pools.Text(exits.said_by[row]);
  return {
      fmt::format("{}{}{}{} {}", said_by == "rank" ? "" : said_by, said_by == "rank" ? "" : " in ",
                  NameOfInput(scene.model, exits.input[row]), LineInWords(exits.line[row], ", "),
                  QuotedMessage(scene.model.pools.Text(exits.text[row]))),
      "process_exit",
      {static_cast<int64_t>(row)}};
}

void AddTimeouts(const Scene& scene, std::vector<Finding>& findings) {
  std::vector<int32_t> ranks = scene.talk.RanksThatTimedOut();
  if (ranks.empty()) return;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  size_t first = scene.talk.ranks.at(ranks.front()).timeouts.front();
  for (int32_t rank : ranks) {
    for (size_t row : scene.talk.ranks.at(rank).timeouts) {
      bool told = events.time_ns[row] != kNone64;
      if (told && (events.time_ns[first] == kNone64 || events.time_ns[row] < events.time_ns[first]))
        first = row;
    }
  }
  Finding finding = NewFinding(scene, "text_hang.timeouts");
  finding.severity = Severity::kWarning;
  finding.role = Role::kObservation;
  finding.ranks = ranks;
  std::string limit;
  if (events.timeout_ms[first] != kNone64)
    limit = fmt::format(" after {}", DurationInWords(events.timeout_ms[first] * 1'000'000));
  const bool by_watchdog = scene.model.pools.Text(events.kind[first]) == "watchdog_timeout";
  finding.headline = fmt::format("{}: {}{}", RanksAsSubject(ranks),
                                 by_watchdog ? "NCCL watchdog timeout" : "gloo timeout", limit);
  if (ranks.size() > 1 || by_watchdog)
    finding.headline += fmt::format(", rank {} first", events.rank[first]);
  finding.headline += SiteOfRow(scene, first);
  if (events.time_ns[first] != kNone64)
    finding.headline += fmt::format(" at {}", TimeOfDay(events.time_ns[first]));
  for (const GroupWorks& group : scene.groups) finding.groups.push_back(ToRef(group));
  Evidence evidence{
      by_watchdog ? "what their watchdogs report" : "what their outputs report", "text_event", {}};
  for (int32_t rank : ranks) {
    for (size_t row : scene.talk.ranks.at(rank).timeouts)
      evidence.rows.push_back(static_cast<int64_t>(row));
  }
  if (!by_watchdog) finding.evidence.push_back(LineAsEvidence(scene, first));
  finding.evidence.push_back(std::move(evidence));
  finding.why = ranks.size() == 1 ? "its output reports it" : "their outputs report it";
  findings.push_back(std::move(finding));
}

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_hang",
               .sentence = "What do the outputs of the ranks say about a job that hung or died?",
               .example = "Rank 6 reported no timeout; ranks 0-5 and 7 timed out, first rank 4 in "
                          "all_reduce #16 of mesh_dp",
               .needs = kNeeds,
               .makes = {},
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_hang
