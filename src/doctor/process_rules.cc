// Rules of debrief doctor about one process: stacks when it dies, core files, levels of logs,
// compile logs and profiles.
#include "doctor/adviser.h"

namespace debrief::doctor {

namespace {

void AdviseSwitch(Adviser& adviser, std::string_view name, std::string_view why) {
  const Setting* setting = adviser.setup.Variable(name);
  if (setting == nullptr || setting->value.empty())
    return adviser.Missing(std::string(name), std::string(why), {SetVariable(name, "1")});
  adviser.Ok(Shown(name, *setting), std::string(why));
}

void AdviseCores(Adviser& adviser) {
  const auto& limit = adviser.setup.core_limit;
  const Fix fix = {Fix::Kind::kCoreLimit, "ulimit -c", "unlimited"};
  constexpr std::string_view kWhy =
      "a process that dies of a signal leaves a core file with the stacks of all threads";
  if (limit && limit->value == "0")
    return adviser.Wrong(fmt::format("ulimit -c 0 ({})", limit->where),
                         "a process that dies of a signal leaves no core file", {fix});
  if (limit)
    return adviser.Ok(fmt::format("ulimit -c {} ({})", limit->value, limit->where),
                      std::string(kWhy));
  adviser.Missing("ulimit -c", std::string(kWhy), {fix});
}

void AdviseDistributedDebug(Adviser& adviser) {
  if (!adviser.setup.MayBeDistributed()) return;
  const Setting* level = adviser.setup.Variable("TORCH_DISTRIBUTED_DEBUG");
  const Fix fix = SetVariable("TORCH_DISTRIBUTED_DEBUG", "INFO");
  if (level == nullptr)
    return adviser.Missing("TORCH_DISTRIBUTED_DEBUG",
                           "INFO says which parameters got no gradient, and more in errors of DDP",
                           {fix});
  const std::string shown = Shown("TORCH_DISTRIBUTED_DEBUG", *level);
  if (level->value == "DETAIL")
    return adviser.Ok(
        shown,
        "compares every collective by another one: slow, for one run that looks for a "
        "mismatch");
  if (level->value == "INFO" || level->value == "OFF" ||
      level->value.find('$') != std::string::npos)
    return adviser.Ok(shown, "set");
  adviser.Wrong(shown, "is none of OFF, INFO and DETAIL: PyTorch refuses to start", {fix});
}

void AdviseHidingSettings(Adviser& adviser) {
  const Setting* level = adviser.setup.Variable("TORCH_CPP_LOG_LEVEL");
  if (level != nullptr && (level->value == "FATAL" || level->value == "3"))
    adviser.Wrong(Shown("TORCH_CPP_LOG_LEVEL", *level), "hides the lines of the watchdog",
                  {RemoveVariable("TORCH_CPP_LOG_LEVEL")});
  const Setting* blocking = adviser.setup.Variable("CUDA_LAUNCH_BLOCKING");
  if (blocking != nullptr && blocking->value == "1")
    adviser.Wrong(Shown("CUDA_LAUNCH_BLOCKING", *blocking),
                  "every launch waits for its kernel: for one run that looks for a CUDA error, not "
                  "for all",
                  {RemoveVariable("CUDA_LAUNCH_BLOCKING")});
}

// Set in the shell, and not handed to the program.
void AdviseUnexported(Adviser& adviser) {
  for (const auto& [name, setting] : adviser.setup.variables) {
    if (setting.is_exported || !IsOfInterest(name)) continue;
    adviser.Wrong(Shown(name, setting), "is set but not exported: no process of the job sees it",
                  {SetVariable(name, "")});
  }
}

constexpr std::string_view kProfilerLines =
    "with torch.profiler.profile(\n"
    "    schedule=torch.profiler.schedule(skip_first=10, wait=5, warmup=2, active=3, repeat=1),\n"
    "    on_trace_ready=lambda p: p.export_chrome_trace(\n"
    "        f\"{logs}/profile_rank{os.environ.get('RANK', '0')}.json.gz\"),\n"
    "    record_shapes=True) as profiler:\n"
    "    for batch in loader:\n"
    "        train_step(batch)\n"
    "        profiler.step()";

constexpr std::string_view kSnapshotLines =
    "torch.cuda.memory._record_memory_history(max_entries=100_000)\n"
    "# ... and where torch.OutOfMemoryError is caught:\n"
    "torch.cuda.memory._dump_snapshot(f\"{logs}/memory_rank{os.environ.get('RANK', '0')}.pickle\")";

}  // namespace

void AdviseProcess(Adviser& adviser) {
  AdviseUnexported(adviser);
  AdviseSwitch(adviser, "PYTHONFAULTHANDLER",
               "Python prints its stack when the process dies of a signal");
  AdviseSwitch(adviser, "PYTHONUNBUFFERED",
               "the last lines of a rank that is killed are not lost in a buffer");
  AdviseCores(adviser);
  AdviseDistributedDebug(adviser);
  AdviseHidingSettings(adviser);
}

void AdviseTraces(Adviser& adviser) {
  const Setting* trace = adviser.setup.Variable("TORCH_TRACE");
  const Fix fix = SetVariable("TORCH_TRACE", "{logs}/torch_trace");
  if (adviser.job && adviser.job->compile_logs > 0) {
    adviser.Ok(fmt::format("{} TORCH_TRACE log{}", adviser.job->compile_logs,
                           adviser.job->compile_logs == 1 ? "" : "s"),
               "what torch.compile did can be said");
  } else if (trace == nullptr && !adviser.IsSince(2, 3)) {
    // Older versions have none.
  } else if (trace == nullptr) {
    adviser.Missing("TORCH_TRACE",
                    "one log a rank of what torch.compile did; nothing is written without it",
                    {fix});
  } else if (IsNodeLocal(trace->value) && adviser.setup.MayHaveNodes()) {
    adviser.Wrong(Shown("TORCH_TRACE", *trace),
                  "lies on each machine alone and is often gone with the job", {fix});
  } else {
    adviser.Ok(Shown("TORCH_TRACE", *trace), "compile logs");
  }
  if (!adviser.job) return;
  if (adviser.job->profiles > 0)
    adviser.Ok(
        fmt::format("{} profile{}", adviser.job->profiles, adviser.job->profiles == 1 ? "" : "s"),
        "where time went can be said");
  else
    adviser.Missing("torch.profiler schedule", "a few steps of every rank show where time goes",
                    {{Fix::Kind::kPython, "profiler", std::string(kProfilerLines)}});
  if (adviser.job->ran_out_of_memory && adviser.job->snapshots == 0)
    adviser.Missing("memory snapshot", "it says which line holds the memory that was missing",
                    {{Fix::Kind::kPython, "memory", std::string(kSnapshotLines)}});
}

}  // namespace debrief::doctor
