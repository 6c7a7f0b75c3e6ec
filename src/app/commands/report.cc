// debrief PATH...: find, import, analyse, print the verdict, write the output folder.
#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <future>

#include "app/build_model.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "outputs/output.h"
#include "outputs/run_json.h"

namespace debrief {

namespace {

bool IsEmptyFolder(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return true;
  bool empty = true;
  while (dirent* entry = readdir(folder)) {
    empty &= std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0;
  }
  closedir(folder);
  return empty;
}

// An existing report is only replaced when asked to: it may be the only copy.
Status MakeOutputFolder(const ReportOptions& options) {
  if (mkdir(options.output.c_str(), 0777) == 0) return {};
  if (errno != EEXIST) {
    return Status(Code::kDenied, fmt::format("cannot make the folder: {}", std::strerror(errno)))
        .At({.file = options.output})
        .Remedy("Choose another with -o");
  }
  if (options.overwrite || IsEmptyFolder(options.output)) return {};
  return Status(Code::kUsage, fmt::format("{} exists and is not empty", options.output))
      .Remedy("Add --overwrite, or choose another folder with -o");
}

bool IsWanted(const Output& output, const ReportOptions& options) {
  if (output.info.file.empty()) return false;
  if (options.no_store && output.info.name == "store") return false;
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
  return wanted;
}

// `done` counts the outputs that are written, for who looks on.
Status WriteFiles(const Model& model, const ReportOptions& options, int threads,
                  std::atomic<uint64_t>& done, std::string& written) {
  OutputContext context{.folder = options.output,
                        .threads = threads,
                        .parquet = options.parquet,
                        .single_file = options.single_file};
  std::vector<std::pair<const Output*, std::future<Status>>> running;
  for (const Output* output : WantedOutputs(options)) {
    running.emplace_back(output, std::async(std::launch::async, [&, output] {
                           Status status = output->write(model, context);
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

void PrintAnswer(const Model& model, const ReportOptions& options, const GlobalOptions& global) {
  StdoutSink sink;
  if (global.json) {
    sink.Write(RunJson(model, 1));
    return;
  }
  OutputContext context{.text = &sink, .width = TerminalWidth(), .colour = WantsColour()};
  for (const Output* output : AllOutputs()) {
    if (output->info.name == (options.markdown ? "markdown" : "console"))
      (void)output->write(model, context);
  }
}

}  // namespace

namespace {

// Only once the answer is printed: a bar in the middle of it would be in the way.
void ShowWriting(size_t outputs, const std::atomic<uint64_t>& done,
                 const std::future<Status>& files, const GlobalOptions& global) {
  auto progress = MakeProgress(global.quiet || global.json);
  progress->Begin("write", outputs);
  while (files.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
    progress->Step(done);
  progress->End();
}

}  // namespace

int RunReport(const ReportOptions& options, const GlobalOptions& global) {
  std::signal(SIGPIPE, SIG_IGN);  // `debrief job | head` still wants its report
  auto started = std::chrono::steady_clock::now();
  if (!AnyPathExists(options.paths)) {
    PrintError(
        Status(Code::kNotFound, "no such file or folder").At({.file = options.paths.front()}));
    return 1;
  }
  if (Status status = CheckNamed(options); !status.ok()) {
    PrintError(status);
    return 2;
  }
  if (Status status = MakeOutputFolder(options); !status.ok()) {
    PrintError(status);
    return status.code() == Code::kUsage ? 2 : 1;
  }
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  Model model;
  BuildModel({.paths = options.paths, .output_folder = options.output, .select = {}}, global,
             budget, model);
  std::string written;
  std::atomic<uint64_t> done = 0;
  auto files = std::async(std::launch::async, [&] {
    return WriteFiles(model, options, ThreadCount(global), done, written);
  });
  PrintAnswer(model, options, global);
  ShowWriting(WantedOutputs(options).size(), done, files, global);
  Status status = files.get();
  if (!status.ok()) PrintError(status);
  if (!global.quiet) {
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
    PrintNote(fmt::format("wrote {}/: {} ({:.1f} s)", options.output, written, took.count()));
  }
  if (!status.ok()) return 1;
  return ExitCodeOf(model, options.fail_on);
}

}  // namespace debrief
