// include/debrief/torch_trace.hpp over the parts that `debrief compile` is made of.
#include "debrief/torch_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "analyses/schedule.h"
#include "base/bytes/spill.h"
#include "base/paths.h"
#include "base/threads/guard.h"
#include "base/threads/progress.h"
#include "base/threads/thread_pool.h"
#include "compat/tlparse/plan.h"
#include "compat/tlparse/tree.h"
#include "inputs/discovery/find_inputs.h"
#include "inputs/import.h"
#include "inputs/importer.h"
#include "inputs/jobs/assign_jobs.h"
#include "model/compile/payload.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"

namespace debrief::torch_trace {

namespace fs = std::filesystem;

struct Log::State {
  SpillBudget budget;  // outlives the model, whose sources lie in it
  Model model;
};

namespace {

int ThreadsOf(const Config& config) {
  return config.threads > 0 ? config.threads
                            : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string TemporaryOf(const Config& config) {
  if (!config.temporary_folder.empty()) return config.temporary_folder;
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Reads the logs below `path`; one file is read as a log whatever it looks like.
Status ReadLogs(const std::string& path, const Config& config, Log::State& state) {
  if (!fs::exists(path)) return {Code::kNotFound, fmt::format("{} does not exist", path)};
  ThreadPool pool(ThreadsOf(config));
  NoProgress progress;
  state.budget.folder = TemporaryOf(config);
  const int64_t now_ns = NowNs();
  FindOptions find{.paths = {path}, .output_folder = {}, .stdin_fd = -1, .now_ns = now_ns};
  std::vector<FoundInput> inputs = FindInputs(find, pool, state.budget, progress);
  const Importer* log = FindImporter("torch_trace");
  std::error_code error;
  if (fs::is_regular_file(path, error) && inputs.size() == 1) {
    inputs[0].importer = log;
    inputs[0].state = InputState::kRecognised;
  }
  std::erase_if(inputs, [&](const FoundInput& input) { return input.importer != log; });
  if (inputs.empty()) return {Code::kNotFound, fmt::format("{} holds no TORCH_TRACE log", path)};
  AssignJobs(inputs, state.model, {});
  ImportAll(inputs, {.now_ns = now_ns}, pool, state.budget, progress, state.model);
  return {};
}

Status TakeFiles(const std::string& folder, std::vector<File>& files) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    std::ifstream file(at->path(), std::ios::binary);
    if (!file) return Status(Code::kIo, "cannot be read").At({.file = at->path().string()});
    files.push_back({at->path().lexically_relative(folder).string(),
                     std::string(std::istreambuf_iterator<char>(file), {})});
  }
  if (error) return Status(Code::kIo, error.message()).At({.file = folder});
  std::ranges::sort(files, {}, &File::path);
  return {};
}

Status MakeTree(const std::string& path, const Config& config, std::vector<File>& files) {
  namespace tree = outputs::tlparse_tree;
  Log::State state;
  TRY(ReadLogs(path, config, state));
  const auto& logs = state.model.tables.Get<CompileLogTable>();
  if (logs.size() != 1) {
    return {Code::kUsage,
            fmt::format("{} holds {} logs: ParsePath makes the tree of one", path, logs.size())};
  }
  ThreadPool pool(ThreadsOf(config));
  NoProgress progress;
  RunAnalyses(AnalysesFor(tree::DerivedTables(), AllAnalyses()), pool, progress, state.model);
  const tree::TreeOptions options{.plain_text = config.plain_text,
                                  .export_report = config.export_report,
                                  .provenance = config.inductor_provenance,
                                  .custom_header_html = config.custom_header_html,
                                  .source_link = config.source_link,
                                  .source_strip = config.source_strip};
  tree::TreePlan plan = tree::MakePlan(state.model, {.input = logs.input[0]}, options);
  if (config.strict && plan.stats.Failed()) return {Code::kInvalid, plan.stats.Text()};
  const ScratchFolder scratch(TemporaryOf(config) + "/debrief-tree-");
  if (scratch.path().empty()) return {Code::kIo, "cannot make a temporary folder"};
  TRY(WriteTree(state.model, plan, options, false, pool, scratch.path()));
  return TakeFiles(scratch.path(), files);
}

// What runs out of memory or threads is an error as others are.
template <typename Work>
Status Run(Work work) {
  Status status;
  Status guarded = Guarded([&] { status = work(); });
  return guarded.ok() ? status : guarded;
}

}  // namespace

Expected<std::vector<File>> ParsePath(const std::string& path, const Config& config) {
  std::vector<File> files;
  Status status = Run([&] { return MakeTree(path, config, files); });
  if (!status.ok()) return Expected<std::vector<File>>::Failed(status.ToString());
  return files;
}

Expected<Log> OpenLog(const std::string& path, const Config& config) {
  auto state = std::make_unique<Log::State>();
  Status status = Run([&] { return ReadLogs(path, config, *state); });
  if (!status.ok()) return Expected<Log>::Failed(status.ToString());
  return Log(std::move(state));
}

Log::Log(std::unique_ptr<State> state) : state_(std::move(state)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

size_t Log::size() const { return state_->model.tables.Get<CompileEntryTable>().size(); }

Entry Log::entry(size_t number) const {
  const Model& model = state_->model;
  const auto& entries = model.tables.Get<CompileEntryTable>();
  Entry entry;
  if (number >= entries.size()) return entry;
  auto text = [&](StringId id) { return std::string(model.pools.Text(id)); };
  entry.kind = text(entries.kind[number]);
  entry.name = text(entries.name[number]);
  entry.compile_id = text(entries.compile_id[number]);
  entry.payload_holds = entries.payload_ok[number] != 0;
  if (entries.rank[number] != kNone32) entry.rank = entries.rank[number];
  entry.line = entries.line[number];
  if (entries.time_ns[number] != kNone64) entry.time_ns = entries.time_ns[number];
  if (auto header = HeaderLine(model, entries, number); header.ok()) {
    const auto json = static_cast<size_t>(entries.json_offset[number]);
    entry.metadata = header.value().text().substr(std::min(json, header.value().size()));
  }
  (void)ReadPayload(model, entries, number, entry.payload);
  return entry;
}

Counts Log::counts() const {
  const auto& logs = state_->model.tables.Get<CompileLogTable>();
  Counts counts;
  for (size_t i = 0; i < logs.size(); ++i) {
    counts.lines += logs.lines[i];
    counts.entries += logs.entries[i];
    counts.bad_lines += logs.bad_prefix[i];
    counts.bad_json += logs.bad_json[i];
    counts.bad_payloads += logs.bad_checksum[i];
  }
  return counts;
}

}  // namespace debrief::torch_trace
