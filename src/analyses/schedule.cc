// Each round runs its analyses beside each other, and each analysis sees the tables that it
// declares and no others. Those that judge come when all rounds are done, in order of name, and see
// all.
#include "analyses/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/threads/guard.h"
#include "model/declared_tables.h"
#include "model/headline.h"

namespace debrief {

namespace {

using Waiting = std::vector<const Analysis*>;

bool Makes(const Analysis& analysis, std::string_view table) {
  return std::find(analysis.info.makes.begin(), analysis.info.makes.end(), table) !=
         analysis.info.makes.end();
}

bool MakesAnyOf(const Analysis& analysis, std::span<const std::string_view> tables) {
  return std::any_of(tables.begin(), tables.end(),
                     [&](std::string_view table) { return Makes(analysis, table); });
}

bool IsReady(const Analysis& analysis, const Waiting& waiting) {
  return std::none_of(waiting.begin(), waiting.end(), [&](const Analysis* other) {
    return other != &analysis &&
           (MakesAnyOf(*other, analysis.info.needs) || MakesAnyOf(*other, analysis.info.uses));
  });
}

// None when all wait for each other.
Waiting TakeReady(Waiting& waiting) {
  Waiting ready, others;
  std::partition_copy(waiting.begin(), waiting.end(), std::back_inserter(ready),
                      std::back_inserter(others),
                      [&](const Analysis* analysis) { return IsReady(*analysis, waiting); });
  waiting = std::move(others);
  return ready;
}

std::string MissingTables(const Analysis& analysis, const Model& model) {
  std::string missing;
  for (std::string_view table : analysis.info.needs) {
    if (model.tables.FindFilled(table) == nullptr)
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", table);
  }
  return missing;
}

// Findings refer to rows of what the analysis made; another may have made rows of the same table
// before.
void ShiftEvidence(const Analysis& analysis, const Model& model, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    for (Evidence& evidence : finding.evidence) {
      const Table* before = model.tables.FindFilled(evidence.table);
      if (before == nullptr || !Makes(analysis, evidence.table)) continue;
      for (int64_t& row : evidence.rows) row += static_cast<int64_t>(before->size());
    }
  }
}

void Join(const Analysis& analysis, const Status& status, AnalysisResult&& result, Model& model) {
  ShiftEvidence(analysis, model, result.findings);
  AnalysisOutcome outcome{.name = std::string(analysis.info.name), .makes = analysis.info.makes};
  outcome.findings = static_cast<int32_t>(result.findings.size());
  if (!status.ok()) {
    outcome.state = AnalysisOutcome::State::kFailed;
    outcome.reason = status.ToString();
  }
  model.Append(std::move(result.part));
  size_t base = model.findings.size();
  for (Finding& finding : result.findings) {
    for (size_t& explained : finding.explains) explained += base;
    BoundTexts(finding);
    model.findings.push_back(std::move(finding));
  }
  model.analyses.push_back(std::move(outcome));
}

void RunRound(const Waiting& ready, ThreadPool& pool, Model& model) {
  Waiting able;
  for (const Analysis* analysis : ready) {
    std::string missing = MissingTables(*analysis, model);
    if (missing.empty()) {
      able.push_back(analysis);
    } else {
      model.analyses.push_back({std::string(analysis->info.name), AnalysisOutcome::State::kNotRun,
                                fmt::format("no input gave rows of {}", missing), 0,
                                analysis->info.makes});
    }
  }
  using Outcome = std::pair<Status, AnalysisResult>;
  std::vector<Outcome> outcomes;  // joined when all have read the model: it is const to them
  pool.MapInOrder<Outcome>(
      able.size(),
      [&](size_t i) {
        Outcome outcome;
        outcome.second.pool = &pool;
        Status guarded =
            Guarded([&] { outcome.first = RunDeclared(*able[i], model, outcome.second); });
        if (!guarded.ok()) outcome = {std::move(guarded), AnalysisResult()};
        return outcome;
      },
      [&](size_t, Outcome&& outcome) { outcomes.push_back(std::move(outcome)); });
  for (size_t i = 0; i < able.size(); ++i)
    Join(*able[i], outcomes[i].first, std::move(outcomes[i].second), model);
}

// Each sees the findings of all that ran, and those that judges before it have changed.
void Judge(std::span<const Analysis* const> analyses, Model& model) {
  for (const Analysis* analysis : analyses) {
    if (analysis->judge == nullptr) continue;
    std::vector<Finding> findings = std::move(model.findings);
    size_t before = findings.size();
    Status guarded = Guarded([&] { analysis->judge(model, findings); });
    AnalysisOutcome outcome{.name = std::string(analysis->info.name)};
    if (!guarded.ok()) {
      outcome.state = AnalysisOutcome::State::kFailed;
      outcome.reason = guarded.ToString();
    }
    outcome.findings = static_cast<int32_t>(findings.size() - before);
    for (Finding& finding : findings) BoundTexts(finding);
    model.findings = std::move(findings);
    model.analyses.push_back(std::move(outcome));
  }
}

}  // namespace

std::vector<const Analysis*> AnalysesFor(std::span<const std::string_view> tables,
                                         std::span<const Analysis* const> analyses) {
  std::vector<std::string_view> wanted(tables.begin(), tables.end());
  std::set<const Analysis*> chosen;
  for (size_t i = 0; i < wanted.size(); ++i) {
    for (const Analysis* analysis : analyses) {
      if (!Makes(*analysis, wanted[i]) || !chosen.insert(analysis).second) continue;
      wanted.insert(wanted.end(), analysis->info.needs.begin(), analysis->info.needs.end());
      wanted.insert(wanted.end(), analysis->info.uses.begin(), analysis->info.uses.end());
    }
  }
  Waiting in_order;
  std::copy_if(analyses.begin(), analyses.end(), std::back_inserter(in_order),
               [&](const Analysis* analysis) { return chosen.contains(analysis); });
  return in_order;
}

Status RunDeclared(const Analysis& analysis, const Model& model, AnalysisResult& result) {
  TableDeclaration declaration(analysis.info.name);
  declaration.MayRead(analysis.info.needs).MayRead(analysis.info.uses).MayMake(analysis.info.makes);
  ScopedDeclaration scope(declaration);
  return analysis.run(model, result);
}

Schedule MakeSchedule(std::span<const Analysis* const> analyses) {
  Schedule schedule;
  std::copy_if(analyses.begin(), analyses.end(), std::back_inserter(schedule.circle),
               [](const Analysis* analysis) { return analysis->run != nullptr; });
  for (Waiting round = TakeReady(schedule.circle); !round.empty();
       round = TakeReady(schedule.circle))
    schedule.rounds.push_back(std::move(round));
  return schedule;
}

void RunAnalyses(std::span<const Analysis* const> analyses, ThreadPool& pool, Progress& progress,
                 Model& model) {
  const Schedule schedule = MakeSchedule(analyses);
  DEBRIEF_CHECK(schedule.circle.empty());
  size_t total = 0, done = 0;
  for (const Waiting& round : schedule.rounds) total += round.size();
  progress.Begin("analyse", total);
  for (const Waiting& round : schedule.rounds) {
    RunRound(round, pool, model);
    progress.Step(done += round.size());
  }
  progress.End();
  Judge(analyses, model);
  std::sort(model.analyses.begin(), model.analyses.end(),
            [](const AnalysisOutcome& a, const AnalysisOutcome& b) { return a.name < b.name; });
  // Not before all have been judged: rules compare and quote what findings say in full.
  for (Finding& finding : model.findings) BoundHeadline(finding);
  OrderFindings(model.findings);
  RecordOutcome(model);
}

}  // namespace debrief
