// One function a command; each returns the exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accel/options.h"
#include "model/diagnostics.h"

namespace debrief {

struct GlobalOptions {
  bool json = false;
  bool quiet = false;
  bool no_sandbox = false;
  int jobs = 0;  // 0: as many as the machine has
  // What jobs there are, instead of what the inputs tell.
  bool one_job = false;
  std::vector<std::string> named_jobs;  // NAME=GLOB
};

struct ReportOptions {
  std::vector<std::string> paths;
  std::vector<std::string> commands;  // what a word that is no path may have been meant as
  std::string output = "debrief_out";
  bool overwrite = false;
  std::string store = "duckdb";  // or parquet, none
  bool no_store = false;         // as store none
  bool parquet = false;
  bool no_report = false;
  bool single_file = false;
  bool markdown = false;          // the verdict as Markdown on stdout
  std::vector<std::string> with;  // outputs that are only written on request
  std::string junit, sarif;       // files for CI; empty: none
  std::optional<Severity> fail_on;
  bool from_shards = false;  // the paths are shards of `debrief map`
  bool shard_only = false;   // of shards: write one shard of all, and no report
  // As one of several tasks that srun or mpirun started (app/tasks).
  bool is_alone = false;                // it is none of them: all is read here
  bool is_local = false;                // the paths are this machine's own: all of them are read
  double wait_s = 600;                  // for the shards of the others, once the own one is written
  bool stays_inside = false;            // no links to files outside of the paths
  std::optional<std::string> post_run;  // command line that gets findings.json; empty: none
};
int RunReport(const ReportOptions& options, const GlobalOptions& global);
int RunReduce(const ReportOptions& options, const GlobalOptions& global);

struct MapOptions {
  std::vector<std::string> paths;
  std::string output;  // the shard, or a folder for it
  std::string shard;   // I/N, I from 1; empty: as the environment of the scheduler says
  bool local = false;  // the paths are this machine's own: all of them are read
};
int RunMap(const MapOptions& options, const GlobalOptions& global);

struct ScaleOptions {
  std::string job;
  std::string output = "debrief_out";
  bool slurm = false, array = false, mpi = false, k8s = false;
  int tasks = 16;
};
int RunScale(const ScaleOptions& options);

struct FlightOptions {
  std::string folder;
  std::string prefix;    // of the names of dumps, before the rank; empty: any name
  std::string output;    // the flat database; its form follows from the name
  std::string timeline;  // Chrome trace of the dumps
  bool just_print_entries = false;
  bool print_stack_trace = false;
  bool verbose = false;
  bool details = false;
  bool compat = false;
  bool allow_incomplete_ranks = false;
  bool transform_ft = false;
  int group_world_size = 0;
  int64_t mismatch_cap = 10;
  std::vector<int> selected_ranks;
  std::vector<std::string> pg_filters;
  std::optional<Severity> fail_on;
};
int RunFlight(const FlightOptions& options, const GlobalOptions& global);

struct CompileOptions {
  std::string path;  // log, folder, archive, or - for stdin
  std::string output = "tl_out";
  std::string split_ranks;  // folder for one clean log a rank, instead of a tree
  std::string custom_header_html;
  bool overwrite = false;
  bool latest = false;
  bool strict = false;
  bool strict_compile_id = false;
  bool no_browser = false;
  bool verbose = false;
  bool plain_text = false;
  bool export_report = false;
  bool inductor_provenance = false;
  bool all_ranks = false;
  bool compat = false;
  std::string source_link;  // address of a line of source: {path}, {line}, {commit}, {branch}
  std::string strip;        // prefix that paths lose in it
  std::string commit, branch;
  // Answers on stdout instead of a tree; at most one.
  bool summary = false;
  std::string graph;    // "1/0" or "1/0:aot_forward_graph"
  std::string against;  // another graph to compare it with
  bool collapsed = false, speedscope = false, dot = false;
  std::string runnable;    // folder for fx_graph_runnable artifacts
  std::string compile_id;  // with --summary: one compilation alone
  int attempt = 0;         // 0: the newest that went wrong, else the newest
  std::optional<Severity> fail_on;
};
int RunCompile(const CompileOptions& options, const GlobalOptions& global);

struct ProfileOptions {
  std::string subcommand;
  std::vector<std::string> paths;
  std::string definition = "debrief";
  bool csv = false;
  bool by_rank = false;           // text without sums over ranks
  int top = 20;                   // rows of a sheet in the text; 0: all
  std::vector<int> ranks;         // empty: all
  std::vector<std::string> set;   // of what-if: changes, "rank=6"
  std::vector<std::string> peak;  // of roofline and comms: what the device can do, "bf16=989"
  std::optional<Severity> fail_on;
};
int RunProfile(const ProfileOptions& options, const GlobalOptions& global);

struct OpsCommandOptions {
  std::vector<std::string> paths;
  bool csv = false;
  bool flamegraph = false;
  bool compat = false;
  int top = 10;                  // rows of a list in the text; 0: all
  uint64_t hot_bytes = 1 << 20;  // outputs above it are listed
  double min_ratio = 0;          // communication below this share of the op time is not
};
int RunOps(const OpsCommandOptions& options, const GlobalOptions& global);

struct DiffOptions {
  std::vector<std::string> paths;         // two runs, or one
  std::vector<int> ranks;                 // of one run: two of them
  std::vector<std::string> compilations;  // of one run: two of them, for example 4/0 and 4/1
  int rank = -1;                          // of these: on this rank; -1: the first that compiles
  std::vector<std::string> fail_on;       // gates
  bool markdown = false;
  int top = 10;  // rows of a section; 0: all
};
int RunDiffCommand(const DiffOptions& options, const GlobalOptions& global);

struct ConvertOptions {
  std::vector<std::string> paths;
  std::string to;          // chrome, perfetto, collapsed, parquet
  std::string output;      // file, of parquet a folder
  std::vector<int> ranks;  // empty: all
  std::string frames;      // of collapsed: host or python; empty: all
  std::string kind;        // of inputs: those of this importer alone; empty: all
  bool is_step = false;    // of another command: only trouble is said
};
// kNotFound when there is no timeline.
Status Convert(const ConvertOptions& options, const GlobalOptions& global);
int RunConvert(const ConvertOptions& options, const GlobalOptions& global);

int RunAccel(const accel::Arguments& arguments, const std::string& command_line,
             const GlobalOptions& global);

struct ListOptions {
  std::string what;                // inputs, analyses, outputs, tables, jobs
  std::vector<std::string> paths;  // of jobs: where they lie
};
int RunList(const ListOptions& options, const GlobalOptions& global);
int RunListJobs(const std::vector<std::string>& paths, const GlobalOptions& global);

struct QueryOptions {
  std::string output;  // folder of a report, or a .duckdb file
  std::string sql;     // empty: a prompt
  std::string table;   // instead of SQL: all rows of this table
  std::string format = "table";
  bool csv = false;
};
int RunQueryCommand(const QueryOptions& options, const GlobalOptions& global);

struct ExplainOptions {
  std::string output;   // folder of a report
  std::string finding;  // id; empty: a list of all
  bool markdown = false;
  bool is_for_others = false;  // who did not choose the store: its views read no other file
};
int RunExplain(const ExplainOptions& options, const GlobalOptions& global);

struct ServeOptions {
  std::string output;  // folder of a report
  uint16_t port = 0;   // 0: a free one
  bool open = false;   // in a browser
};
int RunServe(const ServeOptions& options, const GlobalOptions& global);

struct McpOptions {
  std::vector<std::string> roots;  // folders that clients may name paths in; empty: this one
};
int RunMcp(const McpOptions& options, const GlobalOptions& global);

struct DoctorOptions {
  std::vector<std::string> words;  // a job, a script, or a command; empty: the environment
  bool is_command = false;         // they stood behind --
  std::string target;              // bash, sbatch, k8s; empty: as the script is
  std::string logs;                // folder for evidence
  std::string torch;               // version, for example 2.6
};
int RunDoctor(const DoctorOptions& options, const GlobalOptions& global);

int RunSkill();

struct FetchOptions {
  std::string url;
  std::string output;  // folder or file that is made
};
int RunFetch(const FetchOptions& options, const GlobalOptions& global);

struct PublishOptions {
  std::string output;  // folder of a report
  std::string url;
};
int RunPublish(const PublishOptions& options, const GlobalOptions& global);

struct WatchOptions {
  std::string folder;  // of the job
  std::string output = "debrief_out";
  std::string on_finding;  // command line; empty: none
  std::string prometheus;  // file for metrics; empty: none
  double interval = 1;     // seconds between two looks, where the kernel tells of no change
  double until_idle = 0;   // seconds without any output after which the job is over; 0: never
  double silence = 120;    // seconds after which a silent rank is told
  int64_t pid = 0;         // the job ends with this process; 0: not known
  std::optional<Severity> fail_on;
};
int RunWatch(const WatchOptions& options, const GlobalOptions& global);

struct BundleOptions {
  std::vector<std::string> paths;
  std::string output = "job.tar.zst";
  std::vector<std::string> hide;   // shapes, files
  std::vector<std::string> kinds;  // of inputs; empty: all
  uint64_t max_file_mb = 1024, max_total_mb = 8192;
  bool no_redact = false, no_system = false, documents = false;
};
int RunBundle(const BundleOptions& options, const GlobalOptions& global);

// For tests: every importer that claims each file, one line a file.
int RunSniff(const std::vector<std::string>& files);

}  // namespace debrief
