// debrief diff: what is different between two runs, two ranks of a run, or two compilations.
//
//   debrief diff before/ after/ --fail-on "step_time>5%"
//   debrief diff run/ --ranks 0 6
//   debrief diff run/ --compilations 4/0 4/1 --rank 2
//
// Two runs are two models, one after the other; ranks and compilations are two selections of one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "diff/gates.h"
#include "diff/run_diff.h"
#include "tables/compilation.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief {

namespace {

// A run as it was read. The budget outlives the model, whose sources give back to it.
struct Run {
  SpillBudget budget;
  Model model;
};

Status Read(const std::string& path, const GlobalOptions& global, Run& run) {
  run.budget.folder = TemporaryFolder();
  BuildModel({.paths = {path}, .select = {}}, global, run.budget, run.model);
  const size_t jobs = run.model.tables.Get<JobTable>().size();
  if (jobs == 0) {
    return Status(Code::kNotFound, "nothing in it that debrief reads")
        .At({.file = path})
        .Remedy("`debrief list inputs` says what is read");
  }
  if (jobs > 1) {
    return Status(Code::kUsage, fmt::format("{} jobs lie in it", jobs))
        .At({.file = path})
        .Remedy("Give the folder of one job, or --one-job; `debrief list jobs` says why");
  }
  return {};
}

void AddNotes(std::span<const std::string> notes, diff::RunDiff& found) {
  for (const std::string& note : notes)
    if (!note.empty()) found.notes.push_back(note);
}

Status CheckRank(const Model& model, int rank) {
  const auto& ranks = model.tables.Get<RankTable>().rank;
  if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return {};
  return Status(Code::kUsage, fmt::format("rank {} left nothing in this run", rank));
}

Status CheckCompilation(const diff::Side& side) {
  const auto& table = side.model.tables.Get<CompilationTable>();
  for (size_t row = 0; row < table.size(); ++row)
    if (side.HasRow(table, row) && side.Text(table.compile_id[row]) == side.compile_id) return {};
  return Status(Code::kUsage, fmt::format("no compilation {} in the logs", side.compile_id))
      .Remedy("`debrief compile RUN --summary` lists them");
}

Status CheckUsage(const DiffOptions& options) {
  const bool of_one = !options.ranks.empty() || !options.compilations.empty();
  const size_t wanted = of_one ? 1 : 2;
  if (options.paths.size() == wanted) return {};
  return Status(Code::kUsage, of_one ? "--ranks and --compilations compare within one run"
                                     : "two runs are needed")
      .Remedy(of_one ? "Name one: debrief diff RUN --ranks 0 6" : "Name both: debrief diff A B");
}

Result<std::vector<diff::Gate>> ParseGates(const std::vector<std::string>& texts) {
  std::vector<diff::Gate> gates;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(diff::Gate gate, diff::ParseGate(text));
    gates.push_back(std::move(gate));
  }
  return gates;
}

Result<diff::RunDiff> CompareRuns(const DiffOptions& options, const GlobalOptions& global) {
  Run a, b;
  TRY(Read(options.paths[0], global, a));
  TRY(Read(options.paths[1], global, b));
  diff::Side side_a{.model = a.model, .name = options.paths[0]};
  diff::Side side_b{.model = b.model, .name = options.paths[1]};
  const std::string notes[] = {diff::ChooseAttempt(side_a), diff::ChooseAttempt(side_b),
                               diff::MatchRanks(side_a, side_b)};
  diff::RunDiff found = diff::DiffRuns(side_a, side_b);
  AddNotes(notes, found);
  return found;
}

Result<diff::RunDiff> CompareRanks(const DiffOptions& options, const Model& model) {
  for (int rank : options.ranks) TRY(CheckRank(model, rank));
  auto side = [&](int rank) {
    return diff::Side{.model = model, .name = fmt::format("rank {}", rank), .rank = rank};
  };
  diff::Side a = side(options.ranks[0]), b = side(options.ranks[1]);
  const std::string notes[] = {diff::ChooseAttempt(a), diff::ChooseAttempt(b)};
  diff::RunDiff found = diff::DiffRuns(a, b);
  AddNotes(notes, found);
  return found;
}

Result<diff::RunDiff> CompareCompilations(const DiffOptions& options, const Model& model) {
  const auto& ranks = model.tables.Get<CompilationTable>().rank;
  const int32_t rank = options.rank >= 0 ? options.rank : ranks.empty() ? kNone32 : ranks[0];
  auto side = [&](const std::string& id) {
    return diff::Side{
        .model = model, .name = fmt::format("compilation {}", id), .rank = rank, .compile_id = id};
  };
  diff::Side a = side(options.compilations[0]), b = side(options.compilations[1]);
  const std::string notes[] = {diff::ChooseAttempt(a), diff::ChooseAttempt(b)};
  for (const diff::Side* each : {&a, &b}) TRY(CheckCompilation(*each));
  diff::RunDiff found = diff::DiffCompilations(a, b);
  AddNotes(notes, found);
  return found;
}

Result<diff::RunDiff> Compare(const DiffOptions& options, const GlobalOptions& global) {
  if (options.paths.size() == 2) return CompareRuns(options, global);
  Run run;
  TRY(Read(options.paths[0], global, run));
  return options.ranks.empty() ? CompareCompilations(options, run.model)
                               : CompareRanks(options, run.model);
}

}  // namespace

int RunDiffCommand(const DiffOptions& options, const GlobalOptions& global) {
  if (Status status = CheckUsage(options); !status.ok()) return Fail(status);
  if (Status status = CheckPaths(options.paths); !status.ok()) return Fail(status);
  auto gates = ParseGates(options.fail_on);
  if (!gates.ok()) return Fail(gates.status());
  auto found = Compare(options, global);
  if (!found.ok()) return Fail(found.status());
  std::vector<diff::GateOutcome> outcomes;
  for (const diff::Gate& gate : gates.value()) outcomes.push_back(Test(gate, found.value()));
  const size_t rows = options.top == 0 ? SIZE_MAX : static_cast<size_t>(options.top);
  StdoutSink().Write(global.json        ? diff::DiffJson(found.value(), outcomes)
                     : options.markdown ? diff::DiffMarkdown(found.value(), rows)
                                        : diff::DiffText(found.value(), rows));
  bool failed = false;
  for (const diff::GateOutcome& outcome : outcomes) {
    failed |= outcome.failed;
    if (outcome.failed)
      PrintNote("debrief: gate failed: " + outcome.sentence);
    else if (!global.quiet)
      PrintNote("gate " + outcome.sentence);
  }
  return failed ? 3 : 0;
}

}  // namespace debrief
