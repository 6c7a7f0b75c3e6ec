#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

#include "app/accel_options.h"
#include "app/command_options.h"
#include "app/commands/commands.h"
#include "app/confine.h"
#include "app/hooks/post_run.h"
#include "app/tasks/run_task.h"
#include "app/tasks/task.h"
#include "app/terminal.h"
#include "base/text/nearest.h"
#include "base/version.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief {

namespace {

constexpr const char* kDescription =
    "debrief says what happened in a PyTorch job, from the logs, dumps, profiles and recordings it "
    "left.";

constexpr const char* kExamples =
    "Example:\n"
    "  debrief examples/hung-job    print the verdict, write debrief_out/\n"
    "For CI: --junit FILE, --sarif FILE, --fail-on LEVEL (docs/ci_outputs.md). Under srun: "
    "docs/scale.md\n"
    "More: debrief COMMAND --help, docs/hooks.md. Exit codes: 0 done, 1 no report, 2 usage, 3 "
    "--fail-on.";

std::optional<Severity> LevelOf(const std::string& name) {
  if (name == "info") return Severity::kInfo;
  if (name == "warning") return Severity::kWarning;
  if (name == "error") return Severity::kError;
  return std::nullopt;
}

std::string JoinedArguments(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i == 0 ? "" : " ") + std::string(argv[i]);
  return line;
}

// "debrief profile kernels --help": the sheet that is named; empty when none is.
std::string SheetInHelp(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "profile") return "";
  auto found = std::find_if(argv + 2, argv + argc, outputs::profile_sheets::IsSubcommand);
  return found == argv + argc ? "" : *found;
}

// The options of a command as its help lists them.
std::string OptionsPart(const std::string& help) {
  const size_t begin = help.find("\nOptions:"), end = help.find("\n\nSubcommands", begin);
  return begin == std::string::npos ? "" : help.substr(begin, end - begin) + "\n";
}

int PrintHelp(const CLI::App& app, const CLI::App& command, const std::string& sheet) {
  const std::string whole = app.help();  // of the command that was named, if one was
  std::string text = whole;
  if (!sheet.empty()) {
    text = outputs::profile_sheets::HelpOf(sheet, TerminalWidth()) + OptionsPart(whole) +
           fmt::format("\nExample:\n  debrief {} {} examples/two-rank-profile\n",
                       command.get_name(), sheet);
  }
  StdoutSink().Write(text);
  return 0;
}

// " Did you mean --json?" of "The following argument was not expected: --jsno".
std::string SimilarOption(const CLI::App& command, std::string_view message) {
  const size_t at = message.rfind(": --");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = message.substr(at + 2);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string_view nearest = NearestName(rest.substr(0, rest.find_first_of(" =")), names);
  return nearest.empty() ? "" : fmt::format("Did you mean {}? ", nearest);
}

// CLI11 has exit codes and messages of its own; ours are 0 for help and version, 2 for everything
// else, with the form that all errors have.
int ExitFor(CLI::App& app, const CLI::ParseError& error, const std::string& sheet) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  const CLI::App& command = named.empty() ? app : *named.front();
  if (error.get_name() == "CallForHelp") return PrintHelp(app, command, sheet);
  if (error.get_exit_code() == 0) {
    std::ostringstream out;
    app.exit(error, out, out);
    StdoutSink().Write(out.str());
    return 0;
  }
  const std::string_view message = error.what();
  const bool is_unknown = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return Fail(
      Status(Code::kUsage, std::string(message))
          .Remedy(fmt::format("{}See: debrief{}{} --help",
                              is_unknown ? SimilarOption(command, message) : "",
                              named.empty() ? "" : " ", named.empty() ? "" : command.get_name())));
}

// The words that may stand first, for who misspelled one.
std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_name() != kSniff) names.push_back(command->get_name());
  }
  return names;
}

// Programs and sockets that a command needs are made before it reads anything; serve gives them up
// itself, once it listens, and watch, once the process of its hook runs. fetch and publish read no
// inputs, and programs are what they are for.
Status ConfineFor(const Parsed& parsed, const CLI::App& app) {
  const bool is_compile = app.got_subcommand("compile"), is_serve = app.got_subcommand("serve");
  const bool is_report = app.get_subcommands().empty() && !parsed.report.paths.empty();
  if ((is_compile && !parsed.compile.no_browser) || (is_serve && parsed.serve.open))
    PrepareBrowser();
  if (is_report || app.got_subcommand("reduce")) {
    const ReportOptions& report = is_report ? parsed.report : parsed.reduce;
    TRY(PreparePostRun(report.post_run ? &*report.post_run : nullptr, report.output));
  }
  const bool is_transfer = app.got_subcommand("fetch") || app.got_subcommand("publish");
  const bool is_watch = app.got_subcommand("watch");
  if (!is_serve && !is_watch && !is_transfer) Confine(parsed.global);
  return {};
}

// Under srun and mpirun this process may be one of several that share the work.
int RunReportOrTask(const ReportOptions& options, const GlobalOptions& global) {
  const bool reads_stdin =
      std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end();
  std::optional<Task> task;
  if (!options.is_alone && !reads_stdin) task = TaskFromEnvironment();
  return task ? RunTask(*task, options, global) : RunReport(options, global);
}

}  // namespace

int RunCommandLine(int argc, char** argv) {
  Parsed parsed;
  CLI::App app(kDescription, "debrief");
  app.footer(kExamples);
  app.require_subcommand(0, 1);  // "debrief help flight": the second word is no command, too
  app.get_formatter()->column_width(26);
  // Hidden, since the help fits a screen; first, since CLI11 leaves an empty line for what is
  // hidden.
  app.set_help_flag();
  AddSandbox(app, parsed, "");
  AddOption(app, "--post-run", parsed.report.post_run, "CMD",
            "Then run CMD with findings.json on its stdin (docs/hooks.md)")
      ->group("");
  AddCiFiles(app, parsed.report, "");
  AddTaskOptions(app, parsed.report, "");
  app.set_help_flag("-h,--help", "Print this help message and exit");
  app.set_version_flag("--version", fmt::format("debrief {}", kVersion));
  AddGlobal(app, parsed);
  AddReport(app, parsed);
  const std::pair<const CLI::App*, std::function<int()>> commands[] = {
      {AddFlight(app, parsed), [&] { return RunFlight(parsed.flight, parsed.global); }},
      {AddCompile(app, parsed), [&] { return RunCompile(parsed.compile, parsed.global); }},
      {AddProfile(app, parsed), [&] { return RunProfile(parsed.profile, parsed.global); }},
      {AddOps(app, parsed), [&] { return RunOps(parsed.ops, parsed.global); }},
      {AddDiff(app, parsed), [&] { return RunDiffCommand(parsed.diff, parsed.global); }},
      {AddConvert(app, parsed), [&] { return RunConvert(parsed.convert, parsed.global); }},
      {AddAccel(app, parsed.accel, parsed.global),
       [&] { return RunAccel(parsed.accel, JoinedArguments(argc, argv), parsed.global); }},
      {AddList(app, parsed), [&] { return RunList(parsed.list, parsed.global); }},
      {AddQuery(app, parsed), [&] { return RunQueryCommand(parsed.query, parsed.global); }},
      {AddExplain(app, parsed), [&] { return RunExplain(parsed.explain, parsed.global); }},
      {AddMap(app, parsed), [&] { return RunMap(parsed.map, parsed.global); }},
      {AddReduce(app, parsed), [&] { return RunReduce(parsed.reduce, parsed.global); }},
      {AddScale(app, parsed), [&] { return RunScale(parsed.scale); }},
      {AddServe(app, parsed), [&] { return RunServe(parsed.serve, parsed.global); }},
      {AddMcp(app, parsed), [&] { return RunMcp(parsed.mcp, parsed.global); }},
      {AddDoctor(app, parsed), [&] { return RunDoctor(parsed.doctor, parsed.global); }},
      {AddSkill(app), [] { return RunSkill(); }},
      {AddHelp(app, parsed), [&] { return RunHelp(app, parsed.help); }},
      {AddWatch(app, parsed), [&] { return RunWatch(parsed.watch, parsed.global); }},
      {AddBundle(app, parsed), [&] { return RunBundle(parsed.bundle, parsed.global); }},
      {AddFetch(app, parsed), [&] { return RunFetch(parsed.fetch, parsed.global); }},
      {AddPublish(app, parsed), [&] { return RunPublish(parsed.publish, parsed.global); }},
      {AddSniff(app, parsed), [&] { return RunSniff(parsed.sniff); }},
  };
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; }))
    AddSandbox(*each, parsed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ExitFor(app, error, SheetInHelp(argc, argv));
  }
  if (Status status = ConfineFor(parsed, app); !status.ok()) return Fail(status);
  parsed.doctor.is_command = std::find(argv, argv + argc, std::string_view("--")) != argv + argc;
  parsed.accel.has_counters = app.get_subcommand("accel")->count("--counter") > 0;
  parsed.report.fail_on = parsed.reduce.fail_on = parsed.flight.fail_on = parsed.compile.fail_on =
      parsed.profile.fail_on = parsed.watch.fail_on = LevelOf(parsed.fail_on);
  for (const auto& [command, run] : commands) {
    if (command->parsed()) return run();
  }
  parsed.report.commands = CommandNames(app);
  if (!parsed.report.paths.empty()) return RunReportOrTask(parsed.report, parsed.global);
  PrintNotes(app.help());
  return 2;
}

}  // namespace debrief
