// debrief convert: timelines in another format, several merged onto one clock.
//
//   chrome, perfetto, collapsed   one file, packed when its name ends in .gz
//   parquet                       a folder with one file a table
//
// Only what a timeline needs is read, and only the analyses that relate clocks run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/folders/output_guard.h"
#include "app/folders/staged_folder.h"
#include "app/terminal.h"
#include "base/json/writer.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "outputs/output.h"
#include "outputs/store/store.h"
#include "tables/input.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"

namespace debrief {

namespace {

constexpr std::string_view kTablePrefix = "timeline";

bool MakesTimelines(const FoundInput& input) {
  return input.importer != nullptr && IsOneOf("timeline", input.importer->info.makes);
}

// What lies under the paths, for those who look for timelines in vain.
struct Found {
  std::map<std::string, int> kinds;  // of inputs that are no timelines
  std::vector<int32_t> ranks;        // of those that are

  std::string Text() const {
    std::string text;
    for (const auto& [kind, count] : kinds)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
    return text.empty() ? "nothing" : text;
  }
};

constexpr std::string_view kDerived[] = {"timeline_clock"};

class Conversion {
 public:
  Conversion(const ConvertOptions& options, const GlobalOptions& global)
      : options_(options), global_(global) {
    budget_.folder = TemporaryFolder();
  }

  Status Run() {
    TRY(CheckOptions());
    TRY(FindPlace());
    BuildModel({.paths = options_.paths,
                .output_folder = options_.to == "parquet" ? options_.output : "",
                .select = [this](std::vector<FoundInput>& inputs) { Select(inputs); },
                .derived_tables = kDerived,
                .is_wanted = [this](const FoundInput& input) { return IsWanted(input); },
                .keeps_args = options_.to != "collapsed"},
               global_, budget_, model_);
    ReportTrouble();
    if (model_.tables.Get<TimelineTable>().size() == 0) return NoTimeline();
    TRY(Write());
    Report();
    return {};
  }

 private:
  Status CheckOptions() const {
    TRY(CheckPaths(options_.paths));
    if (!options_.frames.empty() && options_.to != "collapsed") {
      return Status(Code::kUsage, "--frames is about collapsed stacks")
          .Remedy("Add --to collapsed.");
    }
    if (options_.to == "parquet" && options_.output.ends_with(".gz")) {
      return Status(Code::kUsage, "Parquet tables are packed already")
          .Remedy("Name a folder with -o.");
    }
    return {};
  }

  // Before anything is read: a place that may not be written to is told at once.
  Status FindPlace() {
    if (options_.to == "parquet")
      return staged_.Begin(options_.output, {.overwrite = true, .inputs = options_.paths});
    ASSIGN_OR_RETURN(file_, GuardFile(options_.output, options_.paths));
    return {};
  }

  void Select(std::vector<FoundInput>& inputs) {
    std::erase_if(inputs, [this](const FoundInput& input) {
      const bool is_of_kind = options_.kind.empty() || (input.importer != nullptr &&
                                                        input.importer->info.name == options_.kind);
      if (MakesTimelines(input) && is_of_kind) return false;
      ++found_
            .kinds[input.importer == nullptr ? "unknown" : std::string(input.importer->info.name)];
      return true;
    });
  }

  bool IsWanted(const FoundInput& input) {
    if (input.who.rank != kNone32) found_.ranks.push_back(input.who.rank);
    return options_.ranks.empty() || std::find(options_.ranks.begin(), options_.ranks.end(),
                                               input.who.rank) != options_.ranks.end();
  }

  Status NoTimeline() {
    std::sort(found_.ranks.begin(), found_.ranks.end());
    if (!options_.ranks.empty() && !found_.ranks.empty()) {
      return Status(Code::kNotFound, "no timeline of these ranks")
          .Remedy(fmt::format("There are ranks {}.", FoldNumbers(found_.ranks)));
    }
    return Status(Code::kNotFound,
                  fmt::format("no timeline among the inputs; found {}", found_.Text()))
        .Remedy("`debrief list inputs` says which files are timelines.");
  }

  Status Write() {
    if (options_.to == "parquet") {
      TRY(outputs::store::WriteParquetTables(model_, staged_.path(), kTablePrefix));
      return staged_.Publish();
    }
    OutputContext context;
    context.file = file_;
    context.frames = options_.frames;
    return FindOutput(options_.to)->write(model_, context);  // the command line knows no other
  }

  // What was lost on the way: the file would not tell.
  void ReportTrouble() const {
    if (global_.quiet) return;
    const auto& inputs = model_.tables.Get<InputTable>();
    for (const Diagnostic& each : model_.diagnostics.all()) {
      if (each.kind->severity == Severity::kInfo) continue;
      const bool has_path = each.input >= 0 && static_cast<size_t>(each.input) < inputs.size();
      const std::string_view path =
          has_path ? model_.pools.Text(inputs.path[static_cast<size_t>(each.input)]) : "";
      PrintNote(fmt::format("debrief: {}: {}{}", path, each.kind->meaning,
                            each.count > 1 ? fmt::format(" ({} times)", each.count) : ""));
    }
  }

  void Report() const {
    if (options_.is_step) return;
    const size_t timelines = model_.tables.Get<TimelineTable>().size();
    const size_t slices = model_.tables.Get<TimelineSliceTable>().size();
    StdoutSink sink;
    if (global_.json) {
      std::string text;
      JsonWriter json(&text);
      json.BeginObject().Field("output", options_.output).Field("format", options_.to);
      json.Field("timelines", timelines).Field("slices", slices).EndObject();
      sink.Write(text + "\n");
    } else if (!global_.quiet) {
      sink.Write(fmt::format("wrote {}: {} slices of {} timeline{}\n", options_.output, slices,
                             timelines, timelines == 1 ? "" : "s"));
    }
  }

  const ConvertOptions& options_;
  const GlobalOptions& global_;
  StagedFolder staged_;  // of Parquet tables
  std::string file_;     // of everything else
  SpillBudget budget_;
  Model model_;
  Found found_;
};

}  // namespace

Status Convert(const ConvertOptions& options, const GlobalOptions& global) {
  return Conversion(options, global).Run();
}

int RunConvert(const ConvertOptions& options, const GlobalOptions& global) {
  const Status status = Convert(options, global);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace debrief
