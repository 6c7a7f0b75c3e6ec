// debrief ops: what recorded ops tell, of recordings (.dbr) and op traces (JSON) of one or many
// ranks.
//
//   debrief ops run.dbr                     totals, ops, devices, communication, slowest, open
//   debrief ops ranks/ --flamegraph | flamegraph.pl
//   debrief ops ops.json --json --compat    as the first op traces wrote it
//
// Only these inputs are read, and only the analyses run that add up what is shown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/text/units.h"
#include "inputs/importer.h"
#include "outputs/terminal/op_answers/answers.h"

namespace debrief {

namespace {

using namespace outputs::op_answers;  // NOLINT

constexpr std::array<std::string_view, 2> kShownTables = {"op_summary", "op_device"};

bool HoldsOps(const FoundInput& input) {
  if (input.importer == nullptr) return false;
  const auto& makes = input.importer->info.makes;
  return std::find(makes.begin(), makes.end(), "recorded_op") != makes.end();
}

void Write(const Model& model, const OpsCommandOptions& options, const GlobalOptions& global) {
  OpsOptions wanted = {.top = static_cast<size_t>(options.top),
                       .hot_bytes = options.hot_bytes,
                       .min_ratio = options.min_ratio,
                       .width = TerminalWidth()};
  if (options.compat) wanted.behaviour = op_trace::Behaviour::kReference;
  StdoutSink out;
  if (options.flamegraph) return WriteStacks(model, wanted.behaviour, out);
  if (global.json && options.compat) return WriteCompatJson(model, out);
  const OpAnswers answers = AnswerOps(model, wanted);
  if (global.json) return WriteJson(answers, out);
  options.csv ? WriteCsv(answers, out) : WriteText(answers, wanted, out);
}

}  // namespace

int RunOps(const OpsCommandOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths(options.paths); !status.ok()) return Fail(status);
  SpillBudget budget;  // outlives the model, whose sources give back to it
  budget.folder = TemporaryFolder();
  Model model;
  size_t found = 0, holding = 0;
  BuildModel(
      {.paths = options.paths,
       .select =
           [&](std::vector<FoundInput>& inputs) {
             found = inputs.size();
             std::erase_if(inputs, [](const FoundInput& input) { return !HoldsOps(input); });
             holding = inputs.size();
           },
       .derived_tables = std::span(kShownTables).first(options.compat ? 0 : kShownTables.size()),
       .ops_alone = !options.flamegraph},
      global, budget, model);
  if (!global.quiet) PrintTrouble(model);
  if (holding == 0) {
    return Fail(
        Status(Code::kNotFound, fmt::format("none of {} in {} holds recorded ops",
                                            Plural(found, "input"), fmt::join(options.paths, " ")))
            .Remedy("Give recordings (.dbr) or op traces (.json); debrief list inputs says "
                    "what is read."));
  }
  Write(model, options, global);
  return 0;
}

}  // namespace debrief
