#include "app/command_options.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>

#include "app/console/query_commands.h"
#include "base/version.h"
#include "outputs/terminal/profile_sheets/sheet.h"

namespace debrief {

namespace {

// Instead of what the inputs tell about jobs.
void AddJobChoice(CLI::App& app, Parsed& parsed) {
  app.add_flag("--one-job", parsed.global.one_job,
               "Everything is one job (see list jobs PATH for what debrief decides)");
  AddOption(app, "--job", parsed.global.named_jobs, "NAME=GLOB",
            "Inputs whose path matches GLOB are the job NAME (several allowed)")
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& text) {
            size_t equals = text.find('=');
            bool whole = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
            return whole ? std::string() : "must be NAME=GLOB";
          },
          ""));
}

void AddJobs(CLI::App& app, Parsed& parsed) {
  AddOption(app, "--jobs", parsed.global.jobs, "N", "Threads; 0 = one per core")
      ->check(Between(0, 1024));
  AddJobChoice(app, parsed);
}

void AddRunOptions(CLI::App& app, Parsed& parsed) {
  AddJobs(app, parsed);
  AddOption(app, "--fail-on", parsed.fail_on, "LEVEL",
            "Exit 3 on a finding of this level or above: info, warning, error")
      ->check(OneOf({"info", "warning", "error"}));
}

template <typename Number>

void AddTop(CLI::App& app, Number& top, const char* words) {
  AddOption(app, "--top", top, "N", words)->check(CLI::NonNegativeNumber.description(""));
}

void AddReportOptions(CLI::App& app, ReportOptions& report) {
  AddOption(app, "-o,--output", report.output, "DIR",
            "Folder to write; an earlier report in it is replaced (debrief_out)");
  app.add_flag("--overwrite", report.overwrite,
               "Also replace what another command of debrief wrote there");
  AddOption(app, "--store", report.store, "FORM",
            "The tables for SQL: duckdb (run.duckdb), parquet (a file a table), none")
      ->check(OneOf({"duckdb", "parquet", "none"}));
  app.add_flag("--no-store", report.no_store, "As --store none")->group("");
  app.add_flag("--no-report", report.no_report,
               "Do not write the report (index.html and its data)");
  app.add_flag("--single-file", report.single_file,
               "The report as one file: data inside index.html, not in report_data/");
  app.add_flag("--parquet", report.parquet, "Also write every table as Parquet");
  app.add_flag("--markdown", report.markdown, "The verdict as Markdown, for a ticket");
  AddOption(app, "--with", report.with, "NAME",
            "Also write this output, for example flight_timeline (see list outputs)")
      ->allow_extra_args(false);
}

void AddFlightTables(CLI::App& flight, FlightOptions& options) {
  flight.add_flag("-j,--just_print_entries", options.just_print_entries,
                  "Print the entries of every rank as a table");
  AddOption(flight, "--selected-ranks", options.selected_ranks, "R", "With -j: only these ranks");
  AddOption(flight, "--pg-filters", options.pg_filters, "S",
            "With -j: only these groups (name or description)");
  flight.add_flag("--print_stack_trace", options.print_stack_trace, "With -j: the stacks, too");
  flight.add_flag("-v,--verbose", options.verbose,
                  "Longer entries; groups, collectives and calls as tables");
  flight.add_flag("--details", options.details,
                  "Blocks and tables of torchfrtrace after the verdict");
  AddOption(flight, "--mismatch_cap", options.mismatch_cap, "N",
            "Stop after N mismatches in a group (10)");
}

void AddCompileModes(CLI::App& compile, CompileOptions& options) {
  compile.add_flag("--compat", options.compat,
                   "Only files that tlparse 0.4.3 writes; keys it does not know count as unknown");
  compile.add_flag("--all-ranks-html", options.all_ranks,
                   "PATH is a folder of rank logs: a tree a rank, and a page that compares them");
  compile.add_flag("-e,--export", options.export_report, "The report of torch.export");
  compile.add_flag("-i,--inductor-provenance", options.inductor_provenance,
                   "Also pages that link graphs and generated code line by line");
  compile.add_flag("-p,--plain-text", options.plain_text, "Generated code as text");
  AddOption(compile, "--custom-header-html", options.custom_header_html, "HTML",
            "HTML for the top of index pages, inserted as it is");
  AddOption(compile, "--attempt", options.attempt, "N",
            "Of several attempts in the logs, this one (1 is the oldest)")
      ->check(Between(1, 1 << 30));
  AddOption(compile, "--source-link", options.source_link, "TEMPLATE",
            "Link every frame, for example https://host/{branch}/{path}#L{line}");
  AddOption(compile, "--strip", options.strip, "PREFIX", "What {path} goes without, if it has it");
  AddOption(compile, "--commit", options.commit, "SHA", "What {commit} stands for");
  AddOption(compile, "--branch", options.branch, "NAME", "What {branch} stands for");
  AddOption(compile, "--split-ranks", options.split_ranks, "DIR",
            "Write one clean log a rank into DIR instead of a tree");
}

// What is asked instead of a tree.
void AddCompileAnswers(CLI::App& compile, CompileOptions& options) {
  auto* answers = compile.add_option_group("Answers on stdout instead of a tree");
  answers->require_option(0, 1);
  answers->add_flag("--summary", options.summary,
                    "What happened: recompiles, graph breaks, time, caches, ranks (with --json)");
  AddOption(*answers, "--graph", options.graph, "ID",
            "One graph as a table: 1/0 or 1/0:aot_forward_graph");
  answers->add_flag("--collapsed", options.collapsed,
                    "Compile time by user stack, for flamegraph.pl");
  answers->add_flag("--speedscope", options.speedscope, "The same for speedscope.app");
  answers->add_flag("--dot", options.dot, "The tree of stacks for graphviz");
  AddOption(*answers, "--runnable", options.runnable, "DIR",
            "Write each fx_graph_runnable into DIR as a Python file that compiles");
  AddOption(compile, "--against", options.against, "ID",
            "With --graph: what differs from this one");
  AddOption(compile, "--compile-id", options.compile_id, "ID",
            "With --summary: one compilation alone, for example 0/0");
}

}  // namespace

void AddGlobal(CLI::App& app, Parsed& parsed) {
  app.add_flag("--json", parsed.global.json, "Machine-readable answer on stdout");
  app.add_flag("--quiet", parsed.global.quiet, "No progress and no notes on stderr");
}

void AddSandbox(CLI::App& app, Parsed& parsed, const std::string& group) {
  app.add_flag("--no-sandbox", parsed.global.no_sandbox,
               "Stay able to start programs and use the network (SECURITY.md)")
      ->group(group);
}

void AddCiFiles(CLI::App& app, ReportOptions& report, const std::string& group) {
  AddOption(app, "--junit", report.junit, "FILE", "Also write the findings as JUnit XML, for CI")
      ->group(group);
  AddOption(app, "--sarif", report.sarif, "FILE", "Also write the findings as SARIF 2.1.0, for CI")
      ->group(group);
}

void AddTaskOptions(CLI::App& app, ReportOptions& report, const std::string& group) {
  app.add_flag("--alone", report.is_alone,
               "Under srun or mpirun: read all here, and wait for no other task (docs/scale.md)")
      ->group(group);
  app.add_flag("--local", report.is_local,
               "Under srun or mpirun: the paths are each machine's own, so each task reads all")
      ->group(group);
  AddOption(app, "--wait", report.wait_s, "SECONDS",
            "Under srun or mpirun: how long task 1 waits for the others at most (600)")
      ->check(Between(0.0, 1e9))
      ->group(group);
}

void AddReport(CLI::App& app, Parsed& parsed) {
  AddOption(app, "PATH", parsed.report.paths, "",
            "Files, folders, archives (.gz .zst .tar .zip), - for stdin");
  AddReportOptions(app, parsed.report);
  AddRunOptions(app, parsed);
}

CLI::App* AddMap(CLI::App& app, Parsed& parsed) {
  auto* map = app.add_subcommand("map", "Read a share of a large job, on one of many machines");
  MapOptions& options = parsed.map;
  AddOption(*map, "PATH", options.paths, "", "The whole job: the same paths on every machine")
      ->required();
  AddOption(*map, "-o,--output", options.output, "SHARD", "File to write, or a folder for it")
      ->required();
  auto* shard =
      AddOption(*map, "--shard", options.shard, "I/N",
                "This share, 1/N to N/N (as Slurm, MPI or Kubernetes number their tasks)");
  map->add_flag("--local", options.local, "The paths are this machine's own: read all of them")
      ->excludes(shard);
  AddGlobal(*map, parsed);
  AddJobs(*map, parsed);
  map->footer("Example:\n  debrief map examples/hung-job --shard 1/2 -o shards/");
  return map;
}

CLI::App* AddReduce(CLI::App& app, Parsed& parsed) {
  auto* reduce = app.add_subcommand("reduce", "Join the shards of `debrief map`: the same report");
  parsed.reduce.from_shards = true;
  AddOption(*reduce, "SHARD", parsed.reduce.paths, "", "Shards, or folders of them")->required();
  AddReportOptions(*reduce, parsed.reduce);
  reduce
      ->add_flag("--shard-only", parsed.reduce.shard_only,
                 "Write one shard of all, for another reduce, instead of a report")
      ->needs("-o");
  AddCiFiles(*reduce, parsed.reduce, "Options");
  AddOption(*reduce, "--post-run", parsed.reduce.post_run, "CMD",
            "Then run CMD with findings.json on its stdin (docs/hooks.md)");
  AddGlobal(*reduce, parsed);
  AddRunOptions(*reduce, parsed);
  reduce->footer(
      "Example:\n  debrief reduce shards/ -o debrief_out\n"
      "  debrief reduce shards/ --shard-only -o shard-all");
  return reduce;
}

CLI::App* AddScale(CLI::App& app, Parsed& parsed) {
  auto* scale = app.add_subcommand("scale", "Print the script that maps and reduces on a cluster");
  ScaleOptions& options = parsed.scale;
  AddOption(*scale, "JOB", options.job, "", "Folder of the job, on a file system that all see")
      ->required();
  AddOption(*scale, "-o,--output", options.output, "DIR", "Folder of the report (debrief_out)");
  AddOption(*scale, "--tasks", options.tasks, "N", "Tasks that map (16)")
      ->check(Between(1, 100000));
  auto* engines = scale->add_option_group("For");
  engines->require_option(1);
  engines->add_flag("--slurm", options.slurm, "One Slurm job: srun maps, then one task reduces");
  engines->add_flag("--array", options.array, "A Slurm array, and a job that waits for it");
  engines->add_flag("--mpi", options.mpi, "mpirun");
  engines->add_flag("--k8s", options.k8s, "An indexed Job of Kubernetes, and one behind it");
  scale->footer("Example:\n  debrief scale --slurm /jobs/4711");
  return scale;
}

CLI::App* AddFlight(CLI::App& app, Parsed& parsed) {
  auto* flight = app.add_subcommand(
      "flight", "Flight Recorder dumps: who broke the job (drop-in for torchfrtrace)");
  FlightOptions& options = parsed.flight;
  auto* folder = AddOption(*flight, "trace_dir", options.folder, "", "Folder with one dump a rank");
  AddOption(*flight, "-d,--dir", options.folder, "DIR", "The same, as an option")->excludes(folder);
  AddOption(*flight, "-p,--prefix", options.prefix, "TEXT",
            "Only dumps with this in their name, before the rank");
  AddOption(*flight, "-o,--output", options.output, "FILE",
            "Write a flat database: .json, .duckdb, or a plain pickle under any other name");
  AddOption(*flight, "--timeline", options.timeline, "FILE", "Write the dumps as a Chrome trace");
  AddFlightTables(*flight, options);
  flight->add_flag("--allow-incomplete-ranks", options.allow_incomplete_ranks,
                   "With --compat: go on although dumps are missing");
  flight->add_flag("--transform-ft", options.transform_ft,
                   "Dumps of torchft: ranks are counted within a replica group");
  AddOption(*flight, "--group-world-size", options.group_world_size, "W",
            "Ranks of a replica group of torchft");
  flight->add_flag("--compat", options.compat,
                   "Analyse and print exactly as torchfrtrace, on stderr");
  AddGlobal(*flight, parsed);
  AddRunOptions(*flight, parsed);
  flight->footer("Example:\n  debrief flight examples/hung-job --details");
  return flight;
}

CLI::App* AddCompile(CLI::App& app, Parsed& parsed) {
  auto* compile = app.add_subcommand(
      "compile", "TORCH_TRACE logs: what torch.compile did (drop-in for tlparse)");
  CompileOptions& options = parsed.compile;
  AddOption(*compile, "PATH", options.path, "", "Log, folder or archive of logs, - for stdin")
      ->required();
  AddOption(*compile, "-o,--output", options.output, "DIR", "Folder to write (tl_out)");
  compile->add_flag("--overwrite", options.overwrite, "Replace that folder");
  compile->add_flag("--latest", options.latest, "PATH is a folder: its newest file");
  compile->add_flag("--strict", options.strict, "Fail when anything in the log is wrong");
  compile->add_flag("--strict-compile-id", options.strict_compile_id,
                    "Fail when an entry has a broken compile id");
  compile->add_flag("--no-browser", options.no_browser, "Do not open the report");
  compile->add_flag("-v,--verbose", options.verbose, "Name keys that nobody reads");
  AddCompileModes(*compile, options);
  AddCompileAnswers(*compile, options);
  compile->set_version_flag("-V,--version", fmt::format("debrief {}", kVersion));
  AddGlobal(*compile, parsed);
  AddRunOptions(*compile, parsed);
  compile->footer("Example:\n  debrief compile examples/hung-job --summary");
  return compile;
}

CLI::App* AddProfile(CLI::App& app, Parsed& parsed) {
  auto* profile = app.add_subcommand(
      "profile", "Profiles (Kineto, Chrome, Perfetto): where time and memory went");
  ProfileOptions& options = parsed.profile;
  std::vector<std::string> sheets = outputs::profile_sheets::Subcommands();
  sheets.push_back("diff");
  profile
      ->add_option("SUBCOMMAND", options.subcommand,
                   "The question: breakdown, idle, kernels, ranks, ...; see below")
      ->required()
      ->check(OneOf(sheets));
  profile->add_option("PATH", options.paths, "Traces, folders or archives of them, - for stdin")
      ->required();
  AddOption(*profile, "--definition", options.definition, "NAME",
            "Whose definition of the numbers: debrief, hta, tracelens or tensorboard")
      ->check(OneOf({"debrief", "hta", "tracelens", "tensorboard"}));
  profile->add_option("--ranks", options.ranks, "Only these ranks")->delimiter(',');
  profile->add_flag("--by-rank", options.by_rank, "Every rank for itself, not the sum over them");
  AddTop(*profile, options.top, "Rows of a sheet; 0 = all (20)");
  AddOption(*profile, "--set", options.set, "CHANGE",
            "what-if: replay with rank=6, link=2, data=0, ... (docs/what_if.md)")
      ->allow_extra_args(false);
  AddOption(*profile, "--peak", options.peak, "KIND=FIGURE",
            "roofline, comms: gpu=H100, bf16=989 (TFLOP/s), link=450 (GB/s), ...")
      ->allow_extra_args(false);
  profile->add_flag("--csv", options.csv, "All columns as CSV");
  AddGlobal(*profile, parsed);
  AddRunOptions(*profile, parsed);
  profile->footer(fmt::format(
      "Subcommands, each with its own --help:\n{}  {:24}{}\n\n"
      "Examples:\n"
      "  debrief profile breakdown examples/two-rank-profile\n"
      "  debrief profile ranks examples/two-rank-profile\n"
      "  debrief profile diff examples/two-rank-profile/profile_rank0.json "
      "examples/two-rank-profile/profile_rank1.json",
      outputs::profile_sheets::ListOfSubcommands(), "diff", "What differs between two profiles"));
  return profile;
}

CLI::App* AddOps(CLI::App& app, Parsed& parsed) {
  auto* ops = app.add_subcommand("ops", "Recorded ops (.dbr, JSON): time, devices, communication");
  OpsCommandOptions& options = parsed.ops;
  AddOption(*ops, "PATH", options.paths, "", "Recordings, op traces, folders or archives of them")
      ->required();
  AddTop(*ops, options.top, "Rows of a list; 0 = all (10)");
  AddOption(*ops, "--hot-bytes", options.hot_bytes, "B", "List outputs above this size (1048576)");
  AddOption(*ops, "--min-ratio", options.min_ratio, "R",
            "Only communication that takes this share of the op time, 0 to 1 (0)")
      ->check(Between(0.0, 1.0));
  auto* stacks = ops->add_flag("--flamegraph", options.flamegraph,
                               "Collapsed stacks for flamegraph.pl and speedscope");
  ops->add_flag("--csv", options.csv, "Ops by name as CSV")->excludes(stacks);
  ops->add_flag("--compat", options.compat,
                "Count as the first op traces did; with --json also their JSON (docs/compat.md)");
  AddGlobal(*ops, parsed);
  AddJobs(*ops, parsed);
  ops->footer("Example:\n  debrief ops examples/recorded-ops");
  return ops;
}

CLI::App* AddDiff(CLI::App& app, Parsed& parsed) {
  auto* diff =
      app.add_subcommand("diff", "What is different between two runs, ranks or compilations");
  DiffOptions& options = parsed.diff;
  AddOption(*diff, "PATH", options.paths, "", "Two runs: files, folders or archives; or one")
      ->required()
      ->expected(1, 2);
  auto* ranks =
      AddOption(*diff, "--ranks", options.ranks, "R", "Of one run: these two ranks")->expected(2);
  AddOption(*diff, "--compilations", options.compilations, "ID",
            "Of one run: these two compilations, for example 4/0 4/1")
      ->expected(2)
      ->excludes(ranks);
  AddOption(*diff, "--rank", options.rank, "R", "With --compilations: on this rank (the first)")
      ->check(CLI::NonNegativeNumber.description(""));
  AddOption(*diff, "--fail-on", options.fail_on, "GATE",
            "Exit 3 on: new-error, step_time>5%, memory_peak>2%, ... (docs/diff.md)")
      ->allow_extra_args(false);
  diff->add_flag("--markdown", options.markdown, "Tables to paste into a ticket");
  AddTop(*diff, options.top, "Rows of a section; 0 = all (10)");
  AddGlobal(*diff, parsed);
  AddJobs(*diff, parsed);
  diff->footer("Example:\n  debrief diff examples/two-rank-profile --ranks 0 1");
  return diff;
}

CLI::App* AddConvert(CLI::App& app, Parsed& parsed) {
  auto* convert =
      app.add_subcommand("convert", "Timelines in another format, several on one clock");
  ConvertOptions& options = parsed.convert;
  AddOption(*convert, "PATH", options.paths, "", "Files, folders or archives with timelines")
      ->required();
  AddOption(*convert, "--to", options.to, "FORMAT", "chrome, perfetto, collapsed or parquet")
      ->required()
      ->check(OneOf({"chrome", "perfetto", "collapsed", "parquet"}));
  AddOption(*convert, "-o,--output", options.output, "OUT",
            "File to write, packed when it ends in .gz; of parquet a folder")
      ->required();
  AddOption(*convert, "--ranks", options.ranks, "R", "Only these ranks, for example 0,3")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddOption(*convert, "--frames", options.frames, "WHICH",
            "Of collapsed stacks: only host or python")
      ->check(OneOf({"host", "python"}));
  AddGlobal(*convert, parsed);
  AddJobs(*convert, parsed);
  convert->footer(
      "Example:\n  debrief convert examples/two-rank-profile --to perfetto -o job.pftrace");
  return convert;
}

CLI::App* AddList(CLI::App& app, Parsed& parsed) {
  auto* list = app.add_subcommand("list", "What this build can do, or which jobs lie under a path");
  list->add_option("WHAT", parsed.list.what, "inputs, analyses, outputs, tables or jobs")
      ->required()
      ->check(OneOf({"inputs", "analyses", "outputs", "tables", "jobs"}));
  list->add_option("PATH", parsed.list.paths, "Of jobs: files, folders, archives")->type_name("");
  list->add_flag("--json", parsed.global.json, "As JSON");
  AddJobChoice(*list, parsed);
  list->footer("Examples:\n  debrief list inputs\n  debrief list jobs examples/hung-job");
  return list;
}

CLI::App* AddQuery(CLI::App& app, Parsed& parsed) {
  auto* query = app.add_subcommand("query", "SQL over the tables of a report");
  query->add_option("OUT", parsed.query.output, "Folder that debrief wrote, or a .duckdb file")
      ->required();
  auto* sql = query->add_option("SQL", parsed.query.sql,
                                "Statements, or .tables, .columns TABLE, .help; without any, "
                                "they are read from stdin");
  AddOption(*query, "--format", parsed.query.format, "FORMAT",
            "table (the default), box, csv, json or markdown")
      ->check(OneOf(QueryFormats()));
  AddOption(*query, "--table", parsed.query.table, "NAME",
            "Instead of SQL: all rows of one table, in order")
      ->excludes(sql);
  query->add_flag("--json", parsed.global.json, "Same as --format json");
  query->add_flag("--csv", parsed.query.csv, "Same as --format csv");
  query->footer(
      "Examples:\n  debrief query debrief_out \"SELECT kind, count(*) AS inputs FROM input GROUP "
      "BY "
      "kind ORDER BY kind\"\n"
      "  debrief query debrief_out .tables\n"
      "  debrief query debrief_out --table comm_op --csv\n"
      "Several statements print their rows one after the other. Meaning of columns: "
      "docs/tables.md");
  return query;
}

CLI::App* AddExplain(CLI::App& app, Parsed& parsed) {
  auto* explain =
      app.add_subcommand("explain", "What a finding rests on: rows, and the SQL that gives them");
  AddOption(*explain, "OUT", parsed.explain.output, "", "Folder that debrief wrote")->required();
  AddOption(*explain, "FINDING", parsed.explain.finding, "",
            "Id, for example f1; without one, a list");
  explain->add_flag("--markdown", parsed.explain.markdown, "As Markdown, for a ticket");
  explain->add_flag("--json", parsed.global.json, "As JSON");
  explain->footer("Example:\n  debrief explain debrief_out f1");
  return explain;
}

CLI::App* AddServe(CLI::App& app, Parsed& parsed) {
  auto* serve = app.add_subcommand("serve", "A report with SQL in the browser, on this machine");
  AddOption(*serve, "OUT", parsed.serve.output, "", "Folder that debrief wrote")->required();
  AddOption(*serve, "--port", parsed.serve.port, "N", "Port on 127.0.0.1; 0 = a free one (0)")
      ->check(Between(0, 65535));
  serve->add_flag("--open", parsed.serve.open, "Open it in a browser");
  serve->add_flag("--quiet", parsed.global.quiet, "Print the address alone");
  serve->footer("Example:\n  debrief serve debrief_out --open");
  return serve;
}

CLI::App* AddFetch(CLI::App& app, Parsed& parsed) {
  auto* fetch =
      app.add_subcommand("fetch", "Get a job by a program of your configuration (docs/hooks.md)")
          ->group("");
  AddOption(*fetch, "URL", parsed.fetch.url, "", "Where it is, for example s3://bucket/job7")
      ->required();
  AddOption(*fetch, "-o,--output", parsed.fetch.output, "DIR", "Folder to make")->required();
  fetch->add_flag("--quiet", parsed.global.quiet, "No notes on stderr");
  fetch->footer("Example:\n  debrief fetch s3://bucket/job7 -o job7");
  return fetch;
}

CLI::App* AddPublish(CLI::App& app, Parsed& parsed) {
  auto* publish =
      app.add_subcommand("publish",
                         "Send a report by a program of your configuration (docs/hooks.md)")
          ->group("");
  AddOption(*publish, "OUT", parsed.publish.output, "", "Folder that debrief wrote")->required();
  AddOption(*publish, "URL", parsed.publish.url, "", "Where to, for example s3://bucket/report7")
      ->required();
  publish->add_flag("--quiet", parsed.global.quiet, "No notes on stderr");
  publish->footer("Example:\n  debrief publish debrief_out s3://bucket/report7");
  return publish;
}

CLI::App* AddSniff(CLI::App& app, Parsed& parsed) {
  auto* sniff = app.add_subcommand(kSniff, "")->group("");
  sniff->add_option("FILE", parsed.sniff)->required();
  return sniff;
}

}  // namespace debrief
