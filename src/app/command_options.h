// The options of every command, as CLI11 reads them. Only it, command_line, job_options and
// accel_options know CLI11, which is slow to compile.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "app/accel_options.h"
#include "app/commands/commands.h"
#include "app/manual/manual.h"

namespace debrief {

// A command for tests; not in the help.
constexpr const char* kSniff = "sniff";

// What the words of a command line say.
struct Parsed {
  GlobalOptions global;
  ReportOptions report;
  ReportOptions reduce;
  MapOptions map;
  ScaleOptions scale;
  FlightOptions flight;
  CompileOptions compile;
  ProfileOptions profile;
  OpsCommandOptions ops;
  DiffOptions diff;
  ConvertOptions convert;
  accel::Arguments accel;
  ListOptions list;
  QueryOptions query;
  ExplainOptions explain;
  ServeOptions serve;
  McpOptions mcp;
  DoctorOptions doctor;
  HelpOptions help;
  FetchOptions fetch;
  PublishOptions publish;
  WatchOptions watch;
  BundleOptions bundle;
  std::vector<std::string> sniff;
  std::string fail_on;
};

// Options of all commands.
void AddGlobal(CLI::App& app, Parsed& parsed);
// `group`: "" is not in the help.
void AddSandbox(CLI::App& app, Parsed& parsed, const std::string& group = "Options");

// --junit and --sarif; `group` as above.
void AddCiFiles(CLI::App& app, ReportOptions& report, const std::string& group);

// For several tasks of srun or mpirun that share the work: --alone, --local, --wait.
void AddTaskOptions(CLI::App& app, ReportOptions& report, const std::string& group);

// The options of `debrief PATH...`, and of each command by its name.
void AddReport(CLI::App& app, Parsed& parsed);
CLI::App* AddMap(CLI::App& app, Parsed& parsed);
CLI::App* AddReduce(CLI::App& app, Parsed& parsed);
CLI::App* AddScale(CLI::App& app, Parsed& parsed);
CLI::App* AddFlight(CLI::App& app, Parsed& parsed);
CLI::App* AddCompile(CLI::App& app, Parsed& parsed);
CLI::App* AddProfile(CLI::App& app, Parsed& parsed);
CLI::App* AddOps(CLI::App& app, Parsed& parsed);
CLI::App* AddDiff(CLI::App& app, Parsed& parsed);
CLI::App* AddConvert(CLI::App& app, Parsed& parsed);
CLI::App* AddList(CLI::App& app, Parsed& parsed);
CLI::App* AddQuery(CLI::App& app, Parsed& parsed);
CLI::App* AddExplain(CLI::App& app, Parsed& parsed);
CLI::App* AddServe(CLI::App& app, Parsed& parsed);
CLI::App* AddMcp(CLI::App& app, Parsed& parsed);
CLI::App* AddDoctor(CLI::App& app, Parsed& parsed);
CLI::App* AddSkill(CLI::App& app);
CLI::App* AddHelp(CLI::App& app, Parsed& parsed);
CLI::App* AddFetch(CLI::App& app, Parsed& parsed);
CLI::App* AddPublish(CLI::App& app, Parsed& parsed);
CLI::App* AddWatch(CLI::App& app, Parsed& parsed);
CLI::App* AddBundle(CLI::App& app, Parsed& parsed);
CLI::App* AddSniff(CLI::App& app, Parsed& parsed);

}  // namespace debrief
