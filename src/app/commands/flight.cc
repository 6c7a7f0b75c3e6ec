// debrief flight: what Flight Recorder dumps tell; the drop-in for PyTorch's torchfrtrace.
//
//   default       our verdict on stdout; --details adds the analyzer's blocks for our matching
//   -j            the analyzer's table of entries on stdout
//   --compat      the analyzer's own analysis and text on stderr, its exit codes
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdio>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/flight_database.h"
#include "app/folders/output_guard.h"
#include "app/terminal.h"
#include "base/bytes/growing_file.h"
#include "outputs/output.h"
#include "outputs/run_json.h"
#include "outputs/terminal/flight_text/flight_text.h"
#include "tables/comm_dump.h"

namespace debrief {

namespace {

namespace flight_text = outputs::flight_text;

// The analyzer's own complaints, as it raises them.
Status CheckOptions(const FlightOptions& options) {
  if (options.folder.empty()) return Status(Code::kUsage, "Trace directory trace_dir is required");
  if (!options.just_print_entries && !options.selected_ranks.empty())
    return Status(Code::kUsage, "Not support selecting ranks without printing entries")
        .Remedy("Add -j.");
  if (!options.just_print_entries && !options.pg_filters.empty())
    return Status(Code::kUsage, "Not support selecting pg filters without printing entries")
        .Remedy("Add -j.");
  if (options.transform_ft && options.group_world_size <= 0)
    return Status(Code::kUsage, "World size is required for transform_ft")
        .Remedy("Add --group-world-size W.");
  return options.output.empty() ? Status() : CheckDatabaseName(options.output);
}

// The number after the prefix; none when the name has no such form.
int32_t RankAfter(std::string_view name, std::string_view prefix) {
  size_t at = name.find(prefix);
  if (at == std::string_view::npos) return kNone32;
  std::string_view digits = name.substr(at + prefix.size());
  int32_t rank = kNone32;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  bool whole = error == std::errc() && (end == digits.data() + digits.size() || *end == '.');
  return whole && rank >= 0 ? rank : kNone32;
}

// Dumps, and what the ranks printed; a file that could not be opened may be a dump. With a prefix
// the name decides which dumps, and whose.
bool IsWanted(FoundInput& input, const std::string& prefix) {
  if (input.importer == nullptr && input.state != InputState::kFailed) return false;
  if (input.importer != nullptr) {
    if (input.importer->info.name == "job_text") return true;
    if (input.importer->info.name != "flight_recorder") return false;
  }
  if (prefix.empty()) return true;
  int32_t rank = RankAfter(input.name, prefix);
  input.recognition.rank = input.recognition.rank_in_name = rank;
  return rank != kNone32;
}

// For tests: the order in which a directory once gave the ranks ("5,4,0").
std::vector<int32_t> RankOrderForTest() {
  std::vector<int32_t> order;
  std::string text = Environment("DEBRIEF_TEST_RANK_ORDER");
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at) {
    int32_t rank = 0;
    auto [next, error] = std::from_chars(at, end, rank);
    if (error != std::errc()) break;
    order.push_back(rank);
    at = next;
  }
  return order;
}

flight_text::FlightTextOptions TextOptions(const FlightOptions& options, const Model& model,
                                           double load_seconds) {
  return {.strict = options.compat,
          .verbose = options.verbose,
          .print_stacks = options.print_stack_trace,
          .allow_incomplete_ranks = options.allow_incomplete_ranks,
          .mismatch_cap = options.mismatch_cap,
          .transform_ft = options.transform_ft,
          .group_world_size = options.group_world_size,
          .selected_ranks = {options.selected_ranks.begin(), options.selected_ranks.end()},
          .pg_filters = options.pg_filters,
          .rank_order = RankOrderForTest(),
          .load_note = fmt::format("loaded {} files in {}s",
                                   model.tables.Get<CommDumpTable>().size(), load_seconds)};
}

Status WriteTimeline(const Model& model, const std::string& path) {
  OutputContext context;
  context.file = path;
  return FindOutput("flight_timeline")->write(model, context);
}

void PrintVerdict(const Model& model, const GlobalOptions& global, TextSink& sink) {
  if (global.json) {
    sink.Write(RunJson(model, 1));
    return;
  }
  OutputContext context;
  context.text = &sink;
  context.width = TerminalWidth();
  context.colour = WantsColour();
  context.findings_of = "flight.";
  (void)FindOutput("console")->write(model, context);
}

Status WriteFiles(const Model& model, const FlightOptions& options,
                  const flight_text::FlightTextOptions& text) {
  if (!options.timeline.empty()) TRY(WriteTimeline(model, options.timeline));
  if (options.output.empty()) return {};
  return WriteFlatDatabase(model, text, options.compat, options.output);
}

Status Answer(const Model& model, const FlightOptions& options, const GlobalOptions& global,
              const flight_text::FlightTextOptions& text) {
  StdoutSink out;
  StderrSink err;
  TextSink& sink = options.compat ? static_cast<TextSink&>(err) : out;
  if (options.just_print_entries) return flight_text::WriteEntries(model, text, sink);
  if (options.compat) {
    TRY(flight_text::WriteCompat(model, text, sink));
    return WriteFiles(model, options, text);
  }
  PrintVerdict(model, global, sink);
  if (options.details && !global.json) {
    sink.Write("\n");
    TRY(flight_text::WriteDetails(model, text, sink));
  }
  if (options.verbose && !global.json) TRY(flight_text::WriteTables(model, text, sink));
  return WriteFiles(model, options, text);
}

// The analyzer ends with a traceback, of which the last line matters.
int Fail(const Status& status, const FlightOptions& options) {
  if (options.compat) {
    std::string_view type = status.code() == Code::kUsage ? "AssertionError: " : "";
    PrintNotes(fmt::format("{}{}\n", type, status.message()));
    return 1;
  }
  return Fail(status);
}

}  // namespace

int RunFlight(const FlightOptions& given, const GlobalOptions& global) {
  FlightOptions options = given;
  if (Status status = CheckOptions(options); !status.ok()) return Fail(status, options);
  if (Status status = CheckPaths({&options.folder, 1}); !status.ok()) {
    return Fail(options.compat ? Status(Code::kNotFound,
                                        fmt::format("AssertionError: folder {} does not exist",
                                                    options.folder))
                               : status,
                options);
  }
  for (std::string* file : {&options.output, &options.timeline}) {
    if (file->empty()) continue;
    auto place = GuardFile(*file, {options.folder});
    if (!place.ok()) return Fail(place.status(), options);
    *file = std::move(place).value();
  }
  auto started = std::chrono::steady_clock::now();
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  Model model;
  BuildModel({.paths = {options.folder},
              .output_folder = "",
              .select =
                  [&](std::vector<FoundInput>& inputs) {
                    std::erase_if(inputs, [&](FoundInput& input) {
                      return !IsWanted(input, options.prefix);
                    });
                  }},
             global, budget, model);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  if (model.tables.Get<CommDumpTable>().size() == 0) {
    return Fail(Status(Code::kNotFound, fmt::format("{}no files loaded from {} with prefix {}",
                                                    options.compat ? "AssertionError: " : "",
                                                    options.folder, options.prefix)),
                options);
  }
  Status status = Answer(model, options, global, TextOptions(options, model, took.count()));
  if (!status.ok()) return Fail(status, options);
  return options.compat ? 0 : ExitCodeOf(model, options.fail_on);
}

}  // namespace debrief
