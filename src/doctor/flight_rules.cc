// Rules of debrief doctor about Flight Recorder dumps and the watchdog that writes them.
//
// Names: TORCH_FR_* are read since PyTorch 2.9, which still reads the older TORCH_NCCL_* of the
// same; before, these alone. 0 entries turn the recorder off; the default was 0 or 2000, by
// version.
#include "doctor/adviser.h"

namespace debrief::doctor {

namespace {

constexpr std::string_view kNewBuffer = "TORCH_FR_BUFFER_SIZE";
constexpr std::string_view kOldBuffer = "TORCH_NCCL_TRACE_BUFFER_SIZE";
constexpr std::string_view kNewFile = "TORCH_FR_DUMP_TEMP_FILE";
constexpr std::string_view kOldFile = "TORCH_NCCL_DEBUG_INFO_TEMP_FILE";
constexpr std::string_view kDump = "TORCH_NCCL_DUMP_ON_TIMEOUT";
constexpr std::string_view kEntries = "2000";
constexpr std::string_view kPrefix = "{logs}/nccl_trace_rank_";
constexpr int64_t kFewEntries = 100;

// The same setting under the names that the version reads.
std::vector<Fix> BothNames(const Adviser& adviser, std::string_view newer, std::string_view older,
                           std::string_view value) {
  std::vector<Fix> fixes;
  if (adviser.IsSince(2, 9)) fixes.push_back(SetVariable(newer, value));
  if (adviser.IsBefore(2, 9)) fixes.push_back(SetVariable(older, value));
  return fixes;
}

struct Named {
  std::string_view name;
  const Setting* setting = nullptr;
};

// The one that the version reads; the newer name wins where both are.
Named Effective(const Adviser& adviser, std::string_view newer, std::string_view older) {
  if (const Setting* found = adviser.setup.Variable(newer);
      found != nullptr && adviser.IsSince(2, 9))
    return {newer, found};
  return {older, adviser.setup.Variable(older)};
}

void AdviseUnread(Adviser& adviser, std::string_view newer, std::string_view older) {
  const Setting* found = adviser.setup.Variable(newer);
  if (found == nullptr || adviser.IsSince(2, 9)) return;
  adviser.Wrong(Shown(newer, *found),
                fmt::format("PyTorch {}.{} does not read it; before 2.9 the name is {}",
                            adviser.setup.torch->major, adviser.setup.torch->minor, older),
                {RemoveVariable(newer)});
}

void AdviseBuffer(Adviser& adviser) {
  AdviseUnread(adviser, kNewBuffer, kOldBuffer);
  const auto fixes = BothNames(adviser, kNewBuffer, kOldBuffer, kEntries);
  const auto [name, setting] = Effective(adviser, kNewBuffer, kOldBuffer);
  if (setting == nullptr) {
    return adviser.Missing(fixes.front().name,
                           "without entries (the default of several versions) there is no Flight "
                           "Recorder dump, and nothing says which rank did not reach a collective",
                           fixes);
  }
  const auto entries = ParseNumber<int64_t>(Trimmed(setting->value));
  if (!entries) {
    if (setting->value.find('$') != std::string::npos)
      return adviser.Ok(Shown(name, *setting), "set; its value is not known here");
    return adviser.Wrong(Shown(name, *setting), "is not a number: PyTorch refuses to start", fixes);
  }
  if (*entries > 0 && *entries < kFewEntries)
    return adviser.Wrong(
        Shown(name, *setting),
        "holds few collectives: ranks that are some steps apart have none in common", fixes);
  if (*entries > 0)
    return adviser.Ok(Shown(name, *setting), "the Flight Recorder keeps the last collectives");
  const Setting* dump = adviser.setup.Variable(kDump);
  const bool wants_dump = dump != nullptr && SwitchOf(dump->value).value_or(false);
  adviser.Wrong(Shown(name, *setting),
                wants_dump
                    ? fmt::format("turns the Flight Recorder off, so that {}=1 has nothing to "
                                  "write: they contradict each other",
                                  kDump)
                    : "turns the Flight Recorder off",
                fixes);
}

void AdviseDump(Adviser& adviser) {
  const Setting* dump = adviser.setup.Variable(kDump);
  const Fix fix = SetVariable(kDump, "1");
  if (dump == nullptr)
    return adviser.Missing(std::string(kDump),
                           "makes the watchdog write the dumps when a collective times out (the "
                           "default only of newer versions)",
                           {fix});
  const auto is_on = SwitchOf(dump->value);
  if (!is_on && dump->value.find('$') == std::string::npos)
    return adviser.Wrong(Shown(kDump, *dump), "is neither 0 nor 1: PyTorch refuses to start",
                         {fix});
  if (!is_on.value_or(true))
    return adviser.Wrong(Shown(kDump, *dump), "no dump is written when a collective times out",
                         {fix});
  adviser.Ok(Shown(kDump, *dump), "dumps are written when a collective times out");
}

void AdviseFile(Adviser& adviser) {
  AdviseUnread(adviser, kNewFile, kOldFile);
  const auto fixes = BothNames(adviser, kNewFile, kOldFile, kPrefix);
  const auto [name, setting] = Effective(adviser, kNewFile, kOldFile);
  if (setting == nullptr)
    return adviser.Missing(fixes.front().name,
                           "says where dumps go; by default that is /tmp or ~/.cache/torch of each "
                           "machine, where the next job overwrites them",
                           fixes);
  if (IsNodeLocal(setting->value) && adviser.setup.MayHaveNodes())
    return adviser.Wrong(Shown(name, *setting),
                         "lies on each machine alone and is often gone with the job; a folder that "
                         "all machines share keeps the dumps together",
                         fixes);
  adviser.Ok(Shown(name, *setting), "where dumps go, with the rank at the end of the name");
}

// Of dumps that a finished job left; true when there is nothing more to say.
bool AdviseDumpsOfJob(Adviser& adviser) {
  if (!adviser.job || adviser.job->dumps == 0) return false;
  const JobEvidence& job = *adviser.job;
  const std::string count = fmt::format("Flight Recorder dumps of {} of {} ranks", job.dumps,
                                        std::max(job.ranks, job.dumps));
  if (job.dumps >= job.ranks) {
    adviser.Ok(count, "who did not reach which collective can be said");
    return true;
  }
  adviser.Missing(count,
                  "the others wrote theirs elsewhere (a folder of their machine) or died before; a "
                  "shared folder keeps all of them",
                  BothNames(adviser, kNewFile, kOldFile, kPrefix));
  return true;
}

void AdviseErrorHandling(Adviser& adviser) {
  for (const std::string_view name :
       {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"}) {
    const Setting* setting = adviser.setup.Variable(name);
    if (setting == nullptr) continue;
    if (setting->value == "0") {
      adviser.Wrong(Shown(name, *setting),
                    "the watchdog does not end a job whose collectives time out: it hangs until "
                    "somebody looks, without a dump",
                    {RemoveVariable(name)});
    } else {
      adviser.Ok(Shown(name, *setting), "the watchdog ends a job whose collectives time out");
    }
  }
  for (const std::string_view name : {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}) {
    const Setting* setting = adviser.setup.Variable(name);
    if (setting == nullptr || !SwitchOf(setting->value).value_or(false)) continue;
    adviser.Wrong(Shown(name, *setting),
                  "turns the watchdog's handling of timeouts off, and with it the dumps",
                  {RemoveVariable(name)});
  }
}

void AdviseTimeouts(Adviser& adviser) {
  struct Limit {
    std::string_view name, why;
  };
  static constexpr Limit kLimits[] = {
      {"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
       "leaves the watchdog no time: its monitor takes it for stuck at once"},
      {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "leaves no time to write the dumps"},
      {"TORCH_NCCL_ENABLE_MONITORING", "a watchdog that is stuck itself is never noticed"},
  };
  for (const Limit& limit : kLimits) {
    const Setting* setting = adviser.setup.Variable(limit.name);
    if (setting == nullptr) continue;
    if (setting->value == "0")
      adviser.Wrong(Shown(limit.name, *setting), std::string(limit.why),
                    {RemoveVariable(limit.name)});
    else
      adviser.Ok(Shown(limit.name, *setting), "set");
  }
  for (const auto& [name, setting] : adviser.setup.options) {
    const bool is_timeout =
        name.starts_with("program ") && name.find("timeout") != std::string::npos;
    if (is_timeout && ParseNumber<double>(setting.value).value_or(1) <= 0)
      adviser.Wrong(fmt::format("--{} {} ({})", name.substr(8), setting.value, setting.where),
                    "a time limit of 0 ends the first collective at once");
  }
}

}  // namespace

void AdviseFlightRecorder(Adviser& adviser) {
  if (!adviser.setup.MayBeDistributed()) return;
  if (adviser.setup.torch && *adviser.setup.torch < TorchVersion{2, 2}) {
    adviser.Wrong(
        fmt::format("PyTorch {}.{}", adviser.setup.torch->major, adviser.setup.torch->minor),
        "has no Flight Recorder: 2.2 is the first that has it");
    return;
  }
  if (AdviseDumpsOfJob(adviser) && adviser.job->dumps >= adviser.job->ranks) return;
  AdviseBuffer(adviser);
  AdviseDump(adviser);
  if (!adviser.job || adviser.job->dumps == 0) AdviseFile(adviser);
}

void AdviseWatchdog(Adviser& adviser) {
  if (!adviser.setup.MayBeDistributed()) return;
  AdviseErrorHandling(adviser);
  AdviseTimeouts(adviser);
}

}  // namespace debrief::doctor
