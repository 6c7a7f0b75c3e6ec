// debrief profile: what timelines of profilers tell, a subcommand a question.
//
//   debrief profile breakdown rank0.json.gz           text, with the definition of every number
//   debrief profile idle traces/ --csv --definition hta
//   debrief profile diff before.json after.json
//
// Only timelines are read, and only the analyses that the subcommand needs run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "diff/run_diff.h"
#include "inputs/importer.h"
#include "outputs/terminal/profile_diff/profile_diff.h"
#include "outputs/terminal/profile_sheets/sheet.h"
#include "tables/execution_node.h"
#include "tables/memory_snapshot.h"
#include "tables/roofline_peak.h"
#include "tables/serving_event.h"
#include "tables/timeline.h"
#include "tables/what_if_set.h"

namespace debrief {

namespace {

using namespace outputs::profile_diff;    // NOLINT
using namespace outputs::profile_sheets;  // NOLINT

// Kinds of input that a question about a timeline may need. Outputs of jobs and servers, compile
// logs and execution traces are read only for the tables that come from them.
bool IsTimelineInput(const FoundInput& input, std::span<const std::string_view> tables) {
  if (input.importer == nullptr) return false;
  const auto is_asked = [&](std::string_view from, std::string_view derived) {
    return std::ranges::find(input.importer->info.makes, from) !=
               input.importer->info.makes.end() &&
           std::ranges::find(tables, derived) != tables.end();
  };
  for (std::string_view table : input.importer->info.makes) {
    if (table == "timeline" || table == "memory_event" || table == "accel_ideal") return true;
  }
  return is_asked("serving_event", "serving_startup") ||
         is_asked("execution_node", "execution_graph") ||
         is_asked("compile_entry", "profile_roofline") ||
         is_asked("nccl_link", "profile_bandwidth");
}

// "rank=6": what `--set` may change, and to what.
Result<std::pair<std::string_view, std::string_view>> ParseChange(std::string_view text) {
  constexpr std::array<std::string_view, 11> kKinds = {"rank",       "stage", "replica", "type",
                                                       "collective", "link",  "data",    "compile",
                                                       "host",       "sync",  "even"};
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view kind = text.substr(0, equals);
  const std::string_view value = text.substr(std::min(equals + 1, text.size()));
  if (std::ranges::find(kKinds, kind) != kKinds.end() && !value.empty())
    return std::pair(kind, value);
  return Status(Code::kUsage, fmt::format("--set {} is no change", text))
      .Remedy(fmt::format("Give KIND=WHICH; kinds are {}.", fmt::join(kKinds, ", ")));
}

// The changes that the user asks for, as rows.
Status AddChanges(const std::vector<std::string>& changes, Model& model) {
  for (const std::string& text : changes) {
    ASSIGN_OR_RETURN(const auto change, ParseChange(text));
    WhatIfSetRow row;
    row.kind = model.pools.Intern(change.first);
    row.setting = model.pools.Intern(change.second);
    model.tables.Edit<WhatIfSetTable>().Add(row);
  }
  return {};
}

// "bf16=989": what `--peak` says about the device.
Status AddPeaks(const std::vector<std::string>& peaks, Model& model) {
  constexpr std::array<std::string_view, 12> kKinds = {"bf16",   "fp16", "fp8",     "fp4",
                                                       "tf32",   "fp32", "fp64",    "int8",
                                                       "memory", "link", "network", "gpu"};
  for (const std::string_view text : peaks) {
    const size_t equals = std::min(text.find('='), text.size());
    const std::string_view kind = text.substr(0, equals);
    const std::string_view value = text.substr(std::min(equals + 1, text.size()));
    const auto number = ParseNumber<double>(value);
    const bool is_right = kind == "gpu" ? !value.empty() : number && *number > 0;
    if (std::ranges::find(kKinds, kind) == kKinds.end() || !is_right) {
      return Status(Code::kUsage, fmt::format("--peak {} is no peak of a device", text))
          .Remedy(fmt::format("Give KIND=FIGURE in TFLOP/s or GB/s, or gpu=NAME; kinds are {}.",
                              fmt::join(kKinds, ", ")));
    }
    RooflinePeakRow row;
    row.kind = model.pools.Intern(kind);
    row.figure = model.pools.Intern(value);
    model.tables.Edit<RooflinePeakTable>().Add(row);
  }
  return {};
}

// The timelines under some paths, with the derived tables that a question needs.
class Timelines {
  SpillBudget budget_;  // outlives the model, whose sources give back to it

 public:
  Model model;

  // False, with a word on stderr, when there is none.
  bool Read(const std::vector<std::string>& paths, std::span<const std::string_view> tables,
            const GlobalOptions& global) {
    budget_.folder = TemporaryFolder();
    size_t found = 0;
    BuildModel({.paths = paths,
                .select =
                    [&found, tables](std::vector<FoundInput>& inputs) {
                      found = inputs.size();
                      std::erase_if(inputs, [&](const FoundInput& input) {
                        return !IsTimelineInput(input, tables);
                      });
                    },
                .derived_tables = tables},
               global, budget_, model);
    if (!global.quiet) PrintTrouble(model);
    bool is_there = model.tables.Get<TimelineTable>().size() > 0 ||
                    model.tables.Get<MemorySnapshotTable>().size() > 0 ||
                    model.tables.Get<ServingEventTable>().size() > 0 ||
                    model.tables.Get<ExecutionNodeTable>().size() > 0;
    if (!is_there) {
      PrintError(
          Status(Code::kNotFound, fmt::format("none of {} in {} is a timeline of a profiler",
                                              Plural(found, "input"), fmt::join(paths, " ")))
              .Remedy(
                  "Give a Kineto or Chrome trace (.json, .json.gz), a Perfetto trace, an export "
                  "of Nsight Systems (.sqlite), or a folder of them; debrief list inputs says "
                  "what is read."));
    }
    return is_there;
  }
};

int RunSheets(const ProfileOptions& options, const GlobalOptions& global) {
  Timelines timelines;
  if (Status status = AddChanges(options.set, timelines.model); !status.ok()) return Fail(status);
  if (Status status = AddPeaks(options.peak, timelines.model); !status.ok()) return Fail(status);
  if (!timelines.Read(options.paths, TablesOf(options.subcommand), global)) return 1;
  SheetOptions sheets{.definition = options.definition,
                      .top = static_cast<size_t>(options.top),
                      .ranks = options.ranks,
                      .by_rank = options.by_rank,
                      .width = TerminalWidth()};
  StdoutSink out;
  if (global.json) {
    WriteJson(timelines.model, options.subcommand, sheets, out);
  } else if (options.csv) {
    WriteCsv(timelines.model, options.subcommand, sheets, out);
  } else {
    WriteText(timelines.model, options.subcommand, sheets, out);
  }
  return ExitCodeOf(timelines.model, options.fail_on);
}

// Of these inputs those of the wanted ranks; all when no rank is named.
void KeepRanks(const Model& model, const std::vector<int>& ranks, std::vector<int32_t>& inputs) {
  if (ranks.empty()) return;
  const auto& table = model.tables.Get<TimelineTable>();
  std::vector<int32_t> kept;
  for (size_t row = 0; row < table.size(); ++row) {
    const bool is_wanted = std::ranges::find(ranks, table.rank[row]) != ranks.end();
    if (is_wanted && std::ranges::find(inputs, table.input[row]) != inputs.end())
      kept.push_back(table.input[row]);
  }
  if (kept.empty()) kept.push_back(-1);  // no input: an empty selection means all of them
  inputs = std::move(kept);
}

// As `debrief diff` compares them: the newest attempts, and the ranks that both have.
Result<ProfileDiff> CompareProfiles(const Model& a, const Model& b, const ProfileOptions& options,
                                    const GlobalOptions& global) {
  diff::Side side_a{.model = a, .name = options.paths[0]};
  diff::Side side_b{.model = b, .name = options.paths[1]};
  for (const std::string& note : {diff::ChooseAttempt(side_a), diff::ChooseAttempt(side_b),
                                  diff::MatchRanks(side_a, side_b)}) {
    if (!note.empty() && !global.quiet) PrintNote(note);
  }
  diff::ComparedProfiles profiles = diff::FindProfiles(side_a, side_b);
  KeepRanks(a, options.ranks, profiles.a);
  KeepRanks(b, options.ranks, profiles.b);
  return DiffProfiles({a, profiles.a}, {b, profiles.b});
}

int RunDiff(const ProfileOptions& options, const GlobalOptions& global) {
  if (options.paths.size() != 2) {
    return Fail(Status(Code::kUsage, "profile diff compares two profiles")
                    .Remedy("Name both: debrief profile diff A B"));
  }
  static constexpr std::string_view kTables[] = {"profile_breakdown", "timeline_launch"};
  Timelines a, b;
  if (!a.Read({options.paths[0]}, kTables, global)) return 1;
  if (!b.Read({options.paths[1]}, kTables, global)) return 1;
  auto diff = CompareProfiles(a.model, b.model, options, global);
  if (!diff.ok()) return Fail(diff.status());
  DiffTextOptions text{.name_a = options.paths[0],
                       .name_b = options.paths[1],
                       .rows = options.top == 0 ? SIZE_MAX : static_cast<size_t>(options.top),
                       .width = static_cast<size_t>(TerminalWidth())};
  StdoutSink().Write(global.json   ? DiffJson(diff.value(), text)
                     : options.csv ? DiffCsv(diff.value())
                                   : DiffText(diff.value(), text));
  return 0;
}

}  // namespace

int RunProfile(const ProfileOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths(options.paths); !status.ok()) return Fail(status);
  return options.subcommand == "diff" ? RunDiff(options, global) : RunSheets(options, global);
}

}  // namespace debrief
