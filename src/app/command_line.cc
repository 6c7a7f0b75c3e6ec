#include "app/command_line.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>

#include "app/commands/commands.h"
#include "base/version.h"

namespace debrief {

namespace {

struct Parsed {
  GlobalOptions global;
  ReportOptions report;
  ListOptions list;
  QueryOptions query;
  std::vector<std::string> sniff;
  std::string fail_on;
};

constexpr const char* kDescription =
    "debrief says what happened in a PyTorch job, from what the job left behind: compile logs,\n"
    "Flight Recorder dumps, profiles, recorded ops.";

constexpr const char* kExamples =
    "Examples:\n"
    "  debrief examples/hung-job                 print the verdict, write debrief_out/\n"
    "  debrief job.tar.gz -o report --overwrite  read an archive, write elsewhere\n"
    "  debrief job/ --json --quiet               findings for a script\n"
    "  debrief COMMAND --help                    more on one command\n"
    "Exit codes: 0 done, 1 no report could be made, 2 wrong usage, 3 see --fail-on.";

void AddGlobal(CLI::App& app, Parsed& parsed) {
  app.add_flag("--json", parsed.global.json, "Machine-readable answer on stdout");
  app.add_flag("--quiet", parsed.global.quiet, "No progress and no notes on stderr");
}

void AddReport(CLI::App& app, Parsed& parsed) {
  app.add_option("PATH", parsed.report.paths,
                 "Files, folders, archives (.gz .zst .tar .zip), - for stdin")
      ->type_name("");
  app.add_option("-o,--output", parsed.report.output, "Folder to write (debrief_out)")
      ->type_name("DIR");
  app.add_flag("--overwrite", parsed.report.overwrite, "Replace an earlier report in that folder");
  app.add_flag("--no-store", parsed.report.no_store,
               "Do not write run.duckdb (the tables for SQL)");
  app.add_flag("--parquet", parsed.report.parquet, "Also write every table as Parquet");
  app.add_option("--with", parsed.report.with,
                 "Also write this output, for example flight_timeline (see list outputs)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_option("--jobs", parsed.global.jobs, "Threads; 0 = one per core")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  app.add_option("--fail-on", parsed.fail_on,
                 "Exit 3 on a finding of this level or above: info, warning, error")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"info", "warning", "error"}).description(""));
}

CLI::App* AddList(CLI::App& app, Parsed& parsed) {
  auto* list =
      app.add_subcommand("list", "What this build can do: inputs, analyses, outputs, tables");
  list->add_option("WHAT", parsed.list.what, "inputs, analyses, outputs or tables")
      ->required()
      ->check(CLI::IsMember({"inputs", "analyses", "outputs", "tables"}).description(""));
  list->add_flag("--json", parsed.global.json, "As JSON");
  list->footer("Example:\n  debrief list inputs");
  return list;
}

CLI::App* AddQuery(CLI::App& app, Parsed& parsed) {
  auto* query = app.add_subcommand("query", "SQL over the tables of a report");
  query->add_option("OUT", parsed.query.output, "Folder that debrief wrote, or a .duckdb file")
      ->required();
  query->add_option("SQL", parsed.query.sql,
                    "Statement; without one, statements are read from stdin");
  query->add_option("--format", parsed.query.format, "table (the default), csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}).description(""))
      ->type_name("FORMAT");
  query->add_flag("--json", parsed.global.json, "Same as --format json");
  query->footer(
      "Example:\n  debrief query debrief_out \"SELECT kind, count(*) AS inputs FROM input GROUP BY "
      "kind ORDER BY kind\"\n"
      "Tables: debrief list tables, or docs/tables.md");
  return query;
}

int Dispatch(const CLI::App& app, const Parsed& parsed, const CLI::App* list, const CLI::App* query,
             const CLI::App* sniff) {
  if (list->parsed()) return RunList(parsed.list, parsed.global);
  if (query->parsed()) return RunQueryCommand(parsed.query, parsed.global);
  if (sniff->parsed()) return RunSniff(parsed.sniff);
  if (!parsed.report.paths.empty()) return RunReport(parsed.report, parsed.global);
  std::fputs(app.help().c_str(), stderr);
  return 2;
}

// CLI11 has exit codes of its own; ours are 0 for help and version, 2 for everything else.
int ExitFor(CLI::App& app, const CLI::ParseError& error) { return app.exit(error) == 0 ? 0 : 2; }

}  // namespace

int RunCommandLine(int argc, char** argv) {
  Parsed parsed;
  CLI::App app(kDescription, "debrief");
  app.footer(kExamples);
  app.get_formatter()->column_width(26);
  app.set_version_flag("--version", fmt::format("debrief {}", kVersion));
  AddGlobal(app, parsed);
  AddReport(app, parsed);
  CLI::App* list = AddList(app, parsed);
  CLI::App* query = AddQuery(app, parsed);
  auto* sniff = app.add_subcommand("sniff", "")->group("");
  sniff->add_option("FILE", parsed.sniff)->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ExitFor(app, error);
  }
  if (parsed.fail_on == "info") parsed.report.fail_on = Severity::kInfo;
  if (parsed.fail_on == "warning") parsed.report.fail_on = Severity::kWarning;
  if (parsed.fail_on == "error") parsed.report.fail_on = Severity::kError;
  return Dispatch(app, parsed, list, query, sniff);
}

}  // namespace debrief
