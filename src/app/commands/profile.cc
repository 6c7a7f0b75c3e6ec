// debrief profile: what timelines of profilers tell, a subcommand a question.
//
//   debrief profile breakdown rank0.json.gz           text, with the definition of every number
//   debrief profile idle traces/ --csv --definition hta
//   debrief profile diff before.json after.json
//
// Only timelines are read, and only the analyses that the subcommand needs run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "app/build_model.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "inputs/importer.h"
#include "outputs/profile_sheets/sheet.h"
#include "tables/input.h"
#include "tables/timeline.h"

namespace debrief {

namespace {

using namespace outputs::profile_sheets;  // NOLINT

// Kinds of input that a question about a timeline may need.
bool IsTimelineInput(const FoundInput& input) {
  if (input.importer == nullptr) return false;
  for (std::string_view table : input.importer->info.makes) {
    if (table == "timeline" || table == "memory_event") return true;
  }
  return false;
}

int NoTimeline(const ProfileOptions& options, size_t found) {
  fmt::print(stderr,
             "debrief: none of {} inputs in {} is a timeline of a profiler.\n"
             "Give a Kineto or Chrome trace (.json, .json.gz), a Perfetto trace, or a folder of "
             "them; `debrief list inputs` says what is read.\n",
             found, fmt::join(options.paths, " "));
  return 1;
}

std::string_view PathOf(const Model& model, int32_t input) {
  if (input == kNone32) return "(all)";
  return model.pools.Text(model.tables.Get<InputTable>().path[static_cast<size_t>(input)]);
}

void PrintTrouble(const Model& model) {
  for (const Diagnostic& each : model.diagnostics.all()) {
    if (each.kind->severity == Severity::kInfo) continue;
    fmt::print(stderr, "debrief: {}: {}: {} ({} times, first at byte {}). {}\n",
               SeverityName(each.kind->severity), PathOf(model, each.input), each.kind->meaning,
               each.count, each.first.empty() ? -1 : each.first[0].offset, each.kind->remedy);
  }
}

}  // namespace

int RunProfile(const ProfileOptions& options, const GlobalOptions& global) {
  if (!AnyPathExists(options.paths)) {
    fmt::print(stderr, "debrief: no such file or folder: {}\n", fmt::join(options.paths, " "));
    return 1;
  }
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  size_t found = 0;
  Model model;
  std::vector<std::string_view> tables = TablesOf(options.subcommand);
  BuildModel({.paths = options.paths,
              .select =
                  [&found](std::vector<FoundInput>& inputs) {
                    found = inputs.size();
                    std::erase_if(inputs,
                                  [](const FoundInput& input) { return !IsTimelineInput(input); });
                  },
              .derived_tables = tables},
             global, budget, model);
  if (!global.quiet) PrintTrouble(model);
  if (model.tables.Get<TimelineTable>().size() == 0 && options.subcommand != "memory")
    return NoTimeline(options, found);
  SheetOptions sheets{.definition = options.definition,
                      .top = static_cast<size_t>(options.top),
                      .ranks = options.ranks,
                      .width = TerminalWidth()};
  StdoutSink out;
  if (global.json) {
    WriteJson(model, options.subcommand, sheets, out);
  } else if (options.csv) {
    WriteCsv(model, options.subcommand, sheets, out);
  } else {
    WriteText(model, options.subcommand, sheets, out);
  }
  return ExitCodeOf(model, options.fail_on);
}

}  // namespace debrief
