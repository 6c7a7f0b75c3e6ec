// debrief PATH...: find, import, analyse, print the verdict, write the output folder.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <system_error>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/folders/staged_folder.h"
#include "app/hooks/post_run.h"
#include "app/shell_word.h"
#include "app/terminal.h"
#include "base/threads/guard.h"
#include "outputs/output.h"
#include "outputs/run_json.h"
#include "outputs/store/parquet_store.h"

namespace debrief {

namespace {

bool IsWanted(const Output& output, const ReportOptions& options) {
  if (output.info.file.empty()) return false;
  if ((options.no_store || options.store != "duckdb") && output.info.name == "store") return false;
  if (options.no_report && output.info.name == "html") return false;
  return !output.info.on_request || std::find(options.with.begin(), options.with.end(),
                                              output.info.name) != options.with.end();
}

// Names given with --with that are no output written on request.
Status CheckNamed(const ReportOptions& options) {
  std::string known;
  for (const Output* output : AllOutputs()) {
    if (output->info.on_request)
      known += fmt::format("{}{}", known.empty() ? "" : ", ", output->info.name);
  }
  for (const std::string& name : options.with) {
    bool found = std::any_of(AllOutputs().begin(), AllOutputs().end(), [&](const Output* output) {
      return output->info.on_request && output->info.name == name;
    });
    if (!found) {
      return Status(Code::kUsage, fmt::format("--with {}: no such output", name))
          .Remedy(fmt::format("Choose from: {}", known));
    }
  }
  return {};
}

std::vector<const Output*> WantedOutputs(const ReportOptions& options) {
  std::vector<const Output*> wanted;
  std::copy_if(AllOutputs().begin(), AllOutputs().end(), std::back_inserter(wanted),
               [&](const Output* output) { return IsWanted(*output, options); });
  if (options.store == "parquet" && !options.no_store)
    wanted.push_back(&outputs::store::ParquetStore());
  return wanted;
}

// Runs `work` on a thread of its own; where none can be started, when its result is asked for.
template <typename Work>
std::future<Status> StartBeside(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

Status WriteGuarded(const Output& output, const Model& model, const OutputContext& context) {
  Status status;
  Status guarded = Guarded([&] { status = output.write(model, context); });
  if (guarded.ok()) return status;
  return std::move(guarded).At({.file = std::string(output.info.file)});
}

// `done` counts the outputs that are written, for who looks on.
Status WriteFiles(const Model& model, const ReportOptions& options, const std::string& folder,
                  int threads, std::atomic<uint64_t>& done, std::string& written) {
  OutputContext context{.folder = folder,
                        .threads = threads,
                        .parquet = options.parquet,
                        .single_file = options.single_file,
                        .has_report = !options.no_report};
  std::vector<std::pair<const Output*, std::future<Status>>> running;
  for (const Output* output : WantedOutputs(options)) {
    running.emplace_back(output, StartBeside([&, output] {
                           Status status = WriteGuarded(*output, model, context);
                           ++done;
                           return status;
                         }));
  }
  Status first_error;
  for (auto& [output, future] : running) {
    Status status = future.get();
    if (first_error.ok()) first_error = status;
    if (status.ok()) written += fmt::format("{}{}", written.empty() ? "" : " ", output->info.file);
  }
  return first_error;
}

// Files that were asked for by their place: --junit and --sarif.
Status WriteCiFiles(const Model& model, const ReportOptions& options) {
  for (const auto& [name, file] : {std::pair("junit", &options.junit), {"sarif", &options.sarif}}) {
    const Output* output = FindOutput(name);
    if (file->empty() || output == nullptr) continue;
    OutputContext context;
    context.file = *file;
    TRY(WriteGuarded(*output, model, context));
  }
  return {};
}

void PrintAnswer(const Model& model, const ReportOptions& options, const GlobalOptions& global) {
  StdoutSink sink;
  if (global.json) {
    sink.Write(RunJson(model, 1));
    return;
  }
  OutputContext context{.text = &sink, .width = TerminalWidth(), .colour = WantsColour()};
  // The console writes no files: it names the folder in commands that can be pasted.
  if (!options.markdown) context.folder = ShellWord(options.output);
  for (const Output* output : AllOutputs()) {
    if (output->info.name == (options.markdown ? "markdown" : "console"))
      (void)output->write(model, context);
  }
}

// Only once the answer is printed: a bar in the middle of it would be in the way.
void ShowWriting(size_t outputs, const std::atomic<uint64_t>& done,
                 const std::future<Status>& files, const GlobalOptions& global) {
  auto progress = MakeProgress(global.quiet || global.json);
  progress->Begin("write", outputs);
  while (files.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout)
    progress->Step(done);
  progress->End();
}

// Shards that cannot be used cost their inputs and are named.
Status OpenShards(const ReportOptions& options, shards::ShardSet& shard_set) {
  if (!options.from_shards) return {};
  TRY(shard_set.Open(options.paths));
  for (const Status& trouble : shard_set.troubles()) PrintError(trouble);
  for (const std::string& missing : shard_set.missing())
    PrintNote(fmt::format("debrief: {} is missing; its inputs are left out", missing));
  return {};
}

}  // namespace

int RunReport(const ReportOptions& options, const GlobalOptions& global) {
  std::signal(SIGPIPE, SIG_IGN);  // `debrief job | head` still wants its report
  auto started = std::chrono::steady_clock::now();
  if (Status status = CheckPaths(options.paths, options.commands); !status.ok())
    return Fail(status);
  if (Status status = CheckNamed(options); !status.ok()) return Fail(status);
  StagedFolder staged;
  Status begun = staged.Begin(
      options.output, {.overwrite = options.overwrite, .is_report = true, .inputs = options.paths});
  if (!begun.ok()) return Fail(begun);
  shards::ShardSet shard_set;
  if (Status status = OpenShards(options, shard_set); !status.ok()) return Fail(status);
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  Model model;
  BuildModel({.paths = options.paths,
              .output_folder = options.output,
              .report = options.output,
              .select = {},
              .shard_set = options.from_shards ? &shard_set : nullptr,
              .stays_inside = options.stays_inside},
             global, budget, model);
  if (Status status = CheckInputs(options.paths, model); !status.ok()) {
    PrintError(status);
    return 1;
  }
  std::string written;
  std::atomic<uint64_t> done = 0;
  auto files = StartBeside([&] {
    return WriteFiles(model, options, staged.path(), ThreadCount(global), done, written);
  });
  PrintAnswer(model, options, global);
  ShowWriting(WantedOutputs(options).size(), done, files, global);
  Status status = files.get();
  // A part that cannot be made here (no DuckDB library) costs itself alone; when the disk is full,
  // the report before stays whole.
  bool is_lacking = status.code() == Code::kNotFound;
  if (!status.ok() && !is_lacking) return Fail(status);
  if (Status published = staged.Publish(); !published.ok()) return Fail(published);
  if (!global.quiet) {
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    PrintNote(fmt::format("wrote {}/: {} ({:.1f} s)", options.output, written, took.count()));
  }
  if (Status wrote = WriteCiFiles(model, options); !wrote.ok()) return Fail(wrote);
  if (Status ran = PostRun(model); !ran.ok()) return Fail(ran);
  return is_lacking ? Fail(status) : ExitCodeOf(model, options.fail_on);
}

}  // namespace debrief
