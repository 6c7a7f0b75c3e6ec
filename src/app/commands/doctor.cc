// debrief doctor: what to set so that the next run leaves evidence.
//
//   debrief doctor                          the environment
//   debrief doctor train.sbatch             a script, or the YAML of a pod
//   debrief doctor -- torchrun train.py     a command, in this environment
//   debrief doctor JOB                      what a job left, and the scripts in its folder
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/terminal.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "doctor/advice.h"
#include "doctor/paste.h"
#include "doctor/setup.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"
#include "tables/text_event.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMostScriptBytes = 1 << 20;
constexpr size_t kMostScripts = 16;

void ReadEnvironment(doctor::Setup& setup) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos || !doctor::IsOfInterest(text.substr(0, equals))) continue;
    setup.variables[std::string(text.substr(0, equals))] = {std::string(text.substr(equals + 1)),
                                                            "environment"};
  }
  rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  setup.core_limit = doctor::Setting{
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit.rlim_cur),
      "environment"};
}

std::string ReadStart(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostScriptBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

bool HasEnd(const std::string& path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return path.ends_with(end); });
}

bool IsPod(const std::string& path) { return HasEnd(path, {".yaml", ".yml"}); }

bool IsScript(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  return IsPod(path) || HasEnd(path, {".sh", ".sbatch", ".slurm", ".bash", ".job"}) ||
         ReadStart(path).starts_with("#!");
}

// "- name: A" and "value: B" below it.
void ReadPodVariables(std::string_view text, doctor::Setup& setup) {
  const auto after = [](std::string_view line, std::string_view key) -> std::string_view {
    return line.starts_with(key) ? Trimmed(line.substr(key.size()), " \t\r\"'") : "";
  };
  std::string name;
  int64_t number = 0;
  LineSplitter lines(text);
  for (std::string_view line; lines.Next(line);) {
    ++number;
    line = Trimmed(line);
    if (const auto found = after(line, "- name:"); !found.empty()) name = found;
    const bool is_value = line.starts_with("value:") && !name.empty();
    if (!is_value) continue;
    setup.variables[std::exchange(name, "")] = {std::string(after(line, "value:")),
                                                fmt::format("line {}", number)};
  }
}

void ReadScriptFile(const std::string& path, doctor::Setup& setup) {
  const std::string text = ReadStart(path);
  if (IsPod(path)) ReadPodVariables(text, setup);
  doctor::ReadScript(text, setup);
}

// The scripts that lie in the folder of a job, in order of name.
void ReadScriptsIn(const std::string& folder, doctor::Setup& setup) {
  std::error_code error;
  std::set<std::string> scripts;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    if (HasEnd(path, {".sh", ".sbatch", ".slurm"}) && IsScript(path)) scripts.insert(path);
    if (scripts.size() >= kMostScripts) break;
  }
  for (const std::string& script : scripts) ReadScriptFile(script, setup);
}

using RankOfJob = std::pair<int32_t, int32_t>;

int CountRanks(const Model& model) {
  const auto& ranks = model.tables.Get<RankTable>();
  const auto& jobs = model.tables.Get<JobTable>();
  std::set<RankOfJob> seen;
  for (size_t row = 0; row < ranks.size(); ++row) seen.emplace(ranks.job[row], ranks.rank[row]);
  int told = 0;
  for (const int32_t world : jobs.world_size) told += std::max(world, 0);
  return std::max(told, static_cast<int>(seen.size()));
}

doctor::JobEvidence EvidenceOf(const Model& model) {
  doctor::JobEvidence evidence;
  evidence.ranks = CountRanks(model);
  const auto& inputs = model.tables.Get<InputTable>();
  std::set<RankOfJob> dumps, outputs;
  for (size_t row = 0; row < inputs.size(); ++row) {
    if (model.pools.Text(inputs.state[row]) != "imported") continue;
    const std::string_view kind = model.pools.Text(inputs.kind[row]);
    const RankOfJob who = {inputs.job[row], inputs.rank[row]};
    if (kind == "flight_recorder") dumps.insert(who);
    if (kind == "job_text" && inputs.rank[row] != kNone32) outputs.insert(who);
    evidence.output_files += kind == "job_text";
    evidence.compile_logs += kind == "torch_trace";
    evidence.profiles += kind == "chrome_trace" || kind == "perfetto" || kind == "nsys";
    evidence.stacks += kind == "process_stacks";
    evidence.snapshots += kind == "memory_snapshot";
  }
  evidence.dumps = static_cast<int>(dumps.size());
  evidence.outputs = static_cast<int>(outputs.size());
  const auto is_oom = [&](std::string_view rule) { return Contains(rule, "oom"); };
  evidence.ran_out_of_memory = std::ranges::any_of(model.findings, is_oom, &Finding::rule);
  for (const auto kind : model.tables.Get<TextEventTable>().kind)
    evidence.ran_out_of_memory |= model.pools.Text(kind) == "out_of_memory";
  return evidence;
}

Status ReadJob(const std::string& path, const GlobalOptions& global, doctor::Setup& setup,
               std::optional<doctor::JobEvidence>& evidence) {
  SpillBudget budget;
  budget.folder = TemporaryFolder();
  Model model;
  BuildModel({.paths = {path}, .output_folder = {}, .select = {}}, global, budget, model);
  TRY(CheckInputs({path}, model));
  evidence = EvidenceOf(model);
  if (evidence->ranks == 1) setup.launcher = doctor::Launcher::kPython;
  ReadScriptsIn(path, setup);
  return {};
}

Status ReadWhat(const DoctorOptions& options, const GlobalOptions& global, doctor::Setup& setup,
                std::optional<doctor::JobEvidence>& evidence) {
  if (options.is_command || options.words.empty()) {
    ReadEnvironment(setup);
    for (const std::string& word : options.words)
      setup.name += (setup.name.empty() ? "" : " ") + word;
    doctor::ReadCommand(options.words, "command", setup);
    return {};
  }
  if (options.words.size() > 1)
    return Status(Code::kUsage, "one job or one script at a time")
        .Remedy("A command stands behind --: debrief doctor -- torchrun train.py");
  TRY(CheckPaths(options.words));
  setup.name = options.words[0];
  if (!IsScript(setup.name)) return ReadJob(setup.name, global, setup, evidence);
  ReadScriptFile(setup.name, setup);
  return {};
}

doctor::Target TargetOf(const DoctorOptions& options, const doctor::Setup& setup) {
  if (options.target == "k8s" || (options.target.empty() && IsPod(setup.name)))
    return doctor::Target::kK8s;
  const bool is_sbatch = options.target == "sbatch" || (options.target.empty() && setup.is_sbatch);
  return is_sbatch ? doctor::Target::kSbatch : doctor::Target::kBash;
}

}  // namespace

int RunDoctor(const DoctorOptions& options, const GlobalOptions& global) {
  doctor::Setup setup;
  std::optional<doctor::JobEvidence> evidence;
  if (Status status = ReadWhat(options, global, setup, evidence); !status.ok()) return Fail(status);
  if (!options.torch.empty()) {
    setup.torch = doctor::ParseTorchVersion(options.torch);
    if (!setup.torch)
      return Fail(Status(Code::kUsage, fmt::format("{} is no version of PyTorch", options.torch))
                      .Remedy("Write it as 2.6 or 2.6.0."));
  }
  const std::vector<doctor::Advice> advices = doctor::Advise(setup, evidence);
  const doctor::ShowOptions show = {.target = TargetOf(options, setup), .logs = options.logs};
  StdoutSink().Write(
      global.json ? doctor::AdviceJson(advices, setup, show)
                  : doctor::AdviceText(advices, setup, show, static_cast<size_t>(TerminalWidth())));
  return 0;
}

}  // namespace debrief
