// Rules of debrief doctor about what ranks print: files of launchers, NCCL's own log, buffers.
#include "doctor/adviser.h"

namespace debrief::doctor {

namespace {

constexpr std::string_view kNcclLog = "{logs}/nccl.%h.%p.log";

Fix LauncherOption(std::string name, std::string value) {
  return {Fix::Kind::kLauncherOption, std::move(name), std::move(value)};
}

// The three say the same of torchrun and of accelerate, which passes them on.
void AdviseTorchrunFiles(Adviser& adviser, const std::string& program) {
  const Setup& setup = adviser.setup;
  const std::string option = program == "accelerate" ? "--log_dir" : "--log-dir";
  const Setting* folder = setup.Option(program + " log-dir");
  const Setting* tee = setup.Option(program + " tee");
  const Setting* redirects = setup.Option(program + " redirects");
  const auto writes = [](const Setting* setting) {
    return setting != nullptr && setting->value != "0";
  };
  if (folder == nullptr) {
    const bool is_lost = writes(tee) || writes(redirects);
    std::vector<Fix> fixes = {LauncherOption(option, "{logs}")};
    if (!is_lost) fixes.push_back(LauncherOption("--tee", "3"));
    const std::string why =
        is_lost ? "output of ranks goes to a folder with a random name in /tmp of each machine"
                : "each rank's stdout and stderr go to a file of their own; mixed on one terminal "
                  "nobody can tell whose traceback came first";
    if (is_lost)
      return adviser.Wrong(fmt::format("{} without {}", program, option), why, std::move(fixes));
    return adviser.Missing(fmt::format("{} {} --tee", program, option), why, std::move(fixes));
  }
  const std::string shown =
      fmt::format("{} {} {} ({})", program, option, folder->value, folder->where);
  if (!writes(tee) && !writes(redirects))
    return adviser.Wrong(shown, "stays empty without --tee 3 or --redirects 3",
                         {LauncherOption("--tee", "3")});
  if (IsNodeLocal(folder->value) && setup.MayHaveNodes())
    return adviser.Wrong(shown, "lies on each machine alone and is often gone with the job",
                         {LauncherOption(option, "{logs}")});
  adviser.Ok(shown, "each rank's output is a file");
}

// srun and mpirun mix the output of all tasks unless they are told otherwise.
void AdviseTaskFiles(Adviser& adviser) {
  const Setting* output = adviser.setup.Option("srun output");
  const bool is_by_task = output != nullptr && (output->value.find("%t") != std::string::npos ||
                                                output->value.find("%n") != std::string::npos);
  if (is_by_task || adviser.setup.Option("srun label") != nullptr)
    return adviser.Ok("srun --output or --label", "each line says which task printed it");
  adviser.Missing("srun --output",
                  "one file a task; without it or --label nobody can tell whose traceback came "
                  "first",
                  {LauncherOption("--output", "{logs}/rank%t.out")});
}

void AdviseFilesOfLauncher(Adviser& adviser) {
  const Setup& setup = adviser.setup;
  switch (setup.launcher) {
    case Launcher::kTorchrun:
      return AdviseTorchrunFiles(adviser, "torchrun");
    case Launcher::kAccelerate:
      return AdviseTorchrunFiles(adviser, "accelerate");
    case Launcher::kSrun:
      return AdviseTaskFiles(adviser);
    case Launcher::kDeepspeed:
      if (setup.Option("deepspeed enable-each-rank-log") != nullptr)
        return adviser.Ok("deepspeed --enable_each_rank_log", "each rank's output is a file");
      return adviser.Missing("deepspeed --enable_each_rank_log", "one file a rank",
                             {LauncherOption("--enable_each_rank_log", "{logs}")});
    case Launcher::kMpirun:
      if (setup.Option("mpirun output-filename") != nullptr ||
          setup.Option("mpirun tag-output") != nullptr)
        return adviser.Ok("mpirun --output-filename or --tag-output",
                          "each line says which rank printed it");
      return adviser.Missing("mpirun --output-filename", "one file a rank",
                             {LauncherOption("--output-filename", "{logs}")});
    case Launcher::kUnknown:
    case Launcher::kPython:
      return;
  }
}

void AdviseThrownAway(Adviser& adviser) {
  for (const Setting& one : adviser.setup.thrown_away)
    adviser.Wrong(fmt::format("{} to /dev/null ({})", one.value, one.where),
                  "tracebacks and the watchdog's lines are thrown away");
  for (const std::string_view name :
       {"sbatch output", "sbatch error", "srun output", "srun error"}) {
    const Setting* setting = adviser.setup.Option(name);
    if (setting != nullptr && setting->value == "/dev/null")
      adviser.Wrong(
          fmt::format("--{} /dev/null ({})", name.substr(name.find(' ') + 1), setting->where),
          "tracebacks and the watchdog's lines are thrown away");
  }
}

// "srun --export=A" hands on A alone; NONE nothing.
void AdviseExports(Adviser& adviser) {
  for (const std::string_view program : {"sbatch", "srun"}) {
    const Setting* setting = adviser.setup.Option(std::string(program) + " export");
    if (setting == nullptr || setting->value.starts_with("ALL")) continue;
    if (program == "sbatch" && setting->value == "NONE") continue;  // the script sets its own
    adviser.Wrong(
        fmt::format("{} --export={} ({})", program, setting->value, setting->where),
        "hands on these variables alone: what the script exports does not reach the ranks",
        program == "srun" ? std::vector<Fix>{LauncherOption("srun --export", "ALL")}
                          : std::vector<Fix>{});
  }
}

void AdviseNcclFile(Adviser& adviser, const Setting* level) {
  const Setting* file = adviser.setup.Variable("NCCL_DEBUG_FILE");
  const Fix fix = SetVariable("NCCL_DEBUG_FILE", kNcclLog);
  if (file == nullptr)
    return adviser.Missing("NCCL_DEBUG_FILE",
                           "one file a process; in the output NCCL's lines break those of others",
                           {fix});
  const std::string shown = Shown("NCCL_DEBUG_FILE", *file);
  if (level == nullptr)
    return adviser.Wrong(shown, "does nothing without NCCL_DEBUG: nothing is written");
  if (file->value.find("%p") == std::string::npos && adviser.setup.MayBeDistributed())
    return adviser.Wrong(shown,
                         "is one file for all processes, which overwrite each other; %h and "
                         "%p make it one a process",
                         {fix});
  if (IsNodeLocal(file->value) && adviser.setup.MayHaveNodes())
    return adviser.Wrong(shown, "lies on each machine alone and is often gone with the job", {fix});
  adviser.Ok(shown, "NCCL's log is one file a process");
}

}  // namespace

void AdviseNccl(Adviser& adviser) {
  if (!adviser.setup.MayBeDistributed()) return;
  const Setting* level = adviser.setup.Variable("NCCL_DEBUG");
  const Fix fix = SetVariable("NCCL_DEBUG", "WARN");
  if (level == nullptr) {
    adviser.Missing("NCCL_DEBUG",
                    "NCCL says what went wrong in the network only when it is asked to", {fix});
  } else if (level->value == "VERSION" || level->value == "NONE") {
    adviser.Wrong(Shown("NCCL_DEBUG", *level), "NCCL prints no error with it", {fix});
  } else {
    adviser.Ok(Shown("NCCL_DEBUG", *level), "NCCL says what goes wrong");
  }
  AdviseNcclFile(adviser, level);
  const Setting* subsystems = adviser.setup.Variable("NCCL_DEBUG_SUBSYS");
  const bool is_talkative =
      level != nullptr && (level->value == "INFO" || level->value == "TRACE" ||
                           level->value.find('$') != std::string::npos);
  if (subsystems != nullptr && !is_talkative)
    adviser.Wrong(Shown("NCCL_DEBUG_SUBSYS", *subsystems),
                  "chooses among lines that NCCL_DEBUG=INFO alone prints",
                  {RemoveVariable("NCCL_DEBUG_SUBSYS")});
  const Setting* timeout = adviser.setup.Variable("NCCL_TIMEOUT");
  if (timeout != nullptr)
    adviser.Wrong(Shown("NCCL_TIMEOUT", *timeout),
                  "neither NCCL nor PyTorch reads it; the limit is the timeout of "
                  "torch.distributed.init_process_group",
                  {RemoveVariable("NCCL_TIMEOUT")});
}

void AdviseOutput(Adviser& adviser) {
  AdviseThrownAway(adviser);
  AdviseExports(adviser);
  if (adviser.job && adviser.setup.launcher == Launcher::kUnknown) {
    const JobEvidence& job = *adviser.job;
    if (job.outputs > 0 && job.outputs >= job.ranks)
      adviser.Ok(fmt::format("output of {} ranks", job.outputs), "each rank's output is a file");
    else if (job.output_files > 0)
      adviser.Ok(
          fmt::format("{} file{} with output", job.output_files, job.output_files == 1 ? "" : "s"),
          job.ranks > 1 ? "of several ranks together" : "of the job");
    else
      adviser.Missing("torchrun --log-dir --tee",
                      "the job left no output of its ranks: no traceback, no watchdog line",
                      {LauncherOption("--log-dir", "{logs}"), LauncherOption("--tee", "3")});
    return;
  }
  AdviseFilesOfLauncher(adviser);
}

}  // namespace debrief::doctor
