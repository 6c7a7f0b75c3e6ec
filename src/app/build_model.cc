#include "app/build_model.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "analyses/schedule.h"
#include "app/shell_word.h"
#include "app/terminal.h"
#include "base/text/strings.h"
#include "inputs/discovery/find_inputs.h"
#include "inputs/import.h"
#include "inputs/jobs/assign_jobs.h"
#include "tables/finding.h"
#include "tables/input.h"

namespace debrief {

namespace {

// For tests only: cut an input between looking and reading, as a job that rotates its logs does.
void ShrinkForTest() {
  std::string path = Environment("DEBRIEF_TEST_SHRINK");
  if (!path.empty() && truncate(path.c_str(), 16) != 0)
    PrintNote("debrief: DEBRIEF_TEST_SHRINK failed");
}

JobChoice ChoiceOf(const GlobalOptions& global) {
  JobChoice choice{.one_job = global.one_job, .named = {}};
  for (const std::string& text : global.named_jobs) {
    size_t equals = text.find('=');
    choice.named.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return choice;
}

// For benchmarks: the analyses named in DEBRIEF_TEST_WITHOUT ("what_if,profile_roofline") do not
// run.
void LeaveOutForTest(std::vector<const Analysis*>& analyses) {
  const std::string names = "," + Environment("DEBRIEF_TEST_WITHOUT") + ",";
  std::erase_if(analyses, [&](const Analysis* analysis) {
    return Contains(names, "," + std::string(analysis->info.name) + ",");
  });
}

// Analyses do not know where the report will lie, and write OUT. Commands in next steps can be
// pasted: where no report is written, the one that writes it comes first.
void NameReport(const BuildOptions& options, Model& model) {
  constexpr std::string_view kUnnamed = "debrief query OUT ";
  std::string named = "debrief query " + ShellWord(options.report) + " ";
  if (options.report.empty()) {
    named = "debrief";
    for (const std::string& path : options.paths) named += " " + ShellWord(path);
    named += " && debrief query debrief_out ";
  }
  auto& rows = model.tables.Edit<FindingTable>();
  for (size_t i = 0; i < model.findings.size(); ++i) {
    std::string& text = model.findings[i].next_step;
    const size_t at = text.find(kUnnamed);
    if (at == std::string::npos) continue;
    text.replace(at, kUnnamed.size(), named);
    if (i < rows.size()) rows.next_step[i] = model.pools.Intern(text);
  }
}

void LoadShards(std::vector<FoundInput>& inputs, const shards::ShardSet& shard_set,
                ThreadPool& pool, SpillBudget& budget, Progress& progress, Model& model) {
  progress.Begin("join", inputs.size());
  std::atomic<uint64_t> done = 0;
  JoinAll(
      inputs, pool,
      [&](size_t i) {
        Imported imported = shard_set.Load(i, inputs[i], budget);
        progress.Step(++done);
        return imported;
      },
      model);
  progress.End();
}

}  // namespace

ImportOptions ImportOptionsFromEnvironment(int64_t now_ns) {
  ImportOptions options{.now_ns = now_ns};
  const std::string chunks = Environment("DEBRIEF_CHUNK_BYTES");  // for tests: "1,7,100"
  for (const char* at = chunks.c_str(); *at != '\0';) {
    char* end = nullptr;
    options.check_chunk_bytes.push_back(std::max<uint64_t>(1, std::strtoull(at, &end, 10)));
    at = *end == ',' ? end + 1 : chunks.c_str() + chunks.size();
  }
  return options;
}

int ThreadCount(const GlobalOptions& global) {
  if (global.jobs > 0) return global.jobs;
  // Each may have a file open.
  constexpr rlim_t kFilesPerThread = 4;
  rlimit files;
  const bool is_known = getrlimit(RLIMIT_NOFILE, &files) == 0;
  const rlim_t most = is_known ? files.rlim_cur / kFilesPerThread : 1;
  const rlim_t cores = std::thread::hardware_concurrency();
  return static_cast<int>(std::max<rlim_t>(1, std::min(cores, most)));
}

std::vector<FoundInput> FindAndAssign(const BuildOptions& options, const GlobalOptions& global,
                                      int64_t now_ns, SpillBudget& budget, Model& model) {
  ThreadPool pool(ThreadCount(global));
  auto progress = MakeProgress(global.quiet || global.json);
  FindOptions find{.paths = options.paths,
                   .output_folder = options.output_folder,
                   .stays_inside = options.stays_inside,
                   .stdin_fd = STDIN_FILENO,
                   .now_ns = now_ns};
  std::vector<FoundInput> inputs = options.shard_set != nullptr
                                       ? options.shard_set->TakeInputs()
                                       : FindInputs(find, pool, budget, *progress);
  if (options.select) options.select(inputs);
  AssignJobs(inputs, model, ChoiceOf(global));
  for (FoundInput& input : inputs) {
    if (options.is_wanted && !options.is_wanted(input)) input.state = InputState::kSkipped;
  }
  return inputs;
}

void BuildModel(const BuildOptions& options, const GlobalOptions& global, SpillBudget& budget,
                Model& model) {
  const int64_t now_ns = SystemClock().NowNs();
  std::vector<FoundInput> inputs = FindAndAssign(options, global, now_ns, budget, model);
  ThreadPool pool(ThreadCount(global));
  auto progress = MakeProgress(global.quiet || global.json);
  ShrinkForTest();
  if (options.shard_set != nullptr) {
    LoadShards(inputs, *options.shard_set, pool, budget, *progress, model);
    if (options.shard_set->lacks_unknown_inputs())
      shards::AddLostInputs(options.shard_set->missing(), model);
  } else {
    ImportOptions import = ImportOptionsFromEnvironment(now_ns);
    import.keeps_args = options.keeps_args;
    import.ops_alone = options.ops_alone;
    ImportAll(inputs, import, pool, budget, *progress, model);
  }
  std::vector<const Analysis*> chosen(AllAnalyses().begin(), AllAnalyses().end());
  if (options.derived_tables) chosen = AnalysesFor(*options.derived_tables, chosen);
  LeaveOutForTest(chosen);
  RunAnalyses(chosen, pool, *progress, model);
  NameReport(options, model);
}

std::string TemporaryFolder() {
  std::string folder = Environment("TMPDIR");
  return folder.empty() ? "/tmp" : folder;
}

Status CheckInputs(const std::vector<std::string>& paths, const Model& model) {
  const auto& inputs = model.tables.Get<InputTable>();
  size_t failed = 0, bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool unread = model.pools.Text(inputs.state[i]) == "failed" && inputs.rows[i] == 0;
    failed += unread ? 1 : 0;
    bytes += static_cast<size_t>(std::max<int64_t>(0, inputs.bytes[i]));
  }
  std::string why;
  if (inputs.size() == 0) why = "no file in it";
  if (why.empty() && failed == inputs.size()) why = "nothing in it can be opened or read";
  if (why.empty() && bytes == 0) why = "every file in it is empty";
  if (why.empty()) return {};
  return Status(Code::kNotFound, why)
      .At({.file = paths.front()})
      .Remedy("Check the path, the permissions, and whether the job could write");
}

int ExitCodeOf(const Model& model, const std::optional<Severity>& fail_on) {
  bool failed = fail_on && std::any_of(model.findings.begin(), model.findings.end(),
                                       [&](const Finding& f) { return f.severity >= *fail_on; });
  return failed ? 3 : 0;
}

}  // namespace debrief
