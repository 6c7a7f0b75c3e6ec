// A job that failed is never silent: when no rank can be named, the first thing that is known of
// its end is, with who said it and what is missing to know more.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyses/text/hang/hang.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/strings.h"
#include "base/text/units.h"
#include "model/headline.h"
#include "torch/code_words.h"
#include "torch/end_signs.h"
#include "torch/remedies.h"

namespace debrief::analyses::text_hang {

namespace {

constexpr size_t kMostLines = 4;

// The lines that the finding does not quote yet.
void AddRows(const Scene& scene, const Rows& rows, Finding& finding) {
  const auto quotes = [&](size_t row) {
    return std::ranges::any_of(finding.evidence, [&](const Evidence& each) {
      return each.table == "text_event" && each.rows == std::vector{static_cast<int64_t>(row)};
    });
  };
  for (size_t row : rows) {
    if (finding.evidence.size() < kMostLines && !quotes(row))
      finding.evidence.push_back(LineAsEvidence(scene, row));
  }
}

std::string AtTime(int64_t time_ns) {
  return time_ns == kNone64 ? "" : fmt::format(" at {}", TimeOfDay(time_ns));
}

// ---- ended from outside

struct Outside {
  std::string_view sign;
  std::string_view words;
  std::string_view next;
};

constexpr std::string_view kAskScheduler =
    "Look at the scheduler's record of the job (sacct, kubectl describe) for who ended it and why.";
constexpr std::string_view kMoreTime =
    "Ask for more time, or save checkpoints more often and resume from the last one. If it should "
    "have been finished by then, look for the step in which it hung.";
constexpr std::string_view kMoreMemory =
    "Ask for more memory (--mem), or use less: data loader workers, pinned memory, checkpoints "
    "held in memory.";
constexpr std::string_view kResume =
    "Start it again from its last checkpoint, or let the scheduler do so (sbatch --requeue, a "
    "partition or a class that is not preempted).";
constexpr std::string_view kOtherNode =
    "Leave that node out (sbatch --exclude, kubectl cordon), resume from the last checkpoint, and "
    "ask the administrators what its logs say.";
constexpr std::string_view kEvicted =
    "Look at what the node ran out of (kubectl describe pod): give the pod requests and limits of "
    "memory and of ephemeral storage that fit, and write large files to a volume.";

// The reason is outside of the job.
constexpr Outside kOutside[] = {
    {"TIME LIMIT", "The scheduler ended the job: time limit", kMoreTime},
    {"TERM_RUNLIMIT", "The scheduler ended the job: time limit", kMoreTime},
    {"walltime", "The scheduler ended the job: time limit", kMoreTime},
    {"TERM_MEMLIMIT", "The scheduler ended the job: memory limit", kMoreMemory},
    {"memory limit", "The scheduler ended the job: memory limit", kMoreMemory},
    {"was preempted", "The scheduler ended the job: preemption", kResume},
    {"PREEMPT", "The scheduler ended the job: preemption", kResume},
    {"Preempt", "The scheduler ended the job: preemption", kResume},
    {"NODE FAILURE", "The scheduler ended the job: a node failed", kOtherNode},
    {"Node failure", "A node failed", kOtherNode},
    {"NodeNotReady", "A node failed", kOtherNode},
    {"lost communication with a remote", "A node or its network failed", kOtherNode},
    {"Evicted", "Kubernetes evicted a pod of the job", kEvicted},
    {"node has died", "Ray lost a node of the job", kOtherNode},
    {"timeout: sending signal", "The timeout of its command ended the job", kMoreTime},
    {"JOB REQUEUE", "The scheduler requeued the job", kResume}};

// "SignalException: Process 4711 got signal: 15", of torchrun.
constexpr std::string_view kGotSignal = "got signal";

// Somebody ended it: a person, or a launcher that saw a task fail.
constexpr std::string_view kWhoStopped =
    "Look for who sent the signal: the scheduler's record of the job (sacct, kubectl describe), a "
    "preempted or interrupted host, a time limit, a person.";
constexpr Outside kToldToStop[] = {
    {"CANCELLED AT", "The job was cancelled", kAskScheduler},
    {"SIGTERM", "The launcher was told to stop (SIGTERM)", kWhoStopped},
    {kGotSignal, "The launcher was told to stop by a signal", kWhoStopped},
    {"death signal", "The launcher was told to stop by a signal", kWhoStopped}};

// A scheduler starts a job again that it had to end, and the text goes on: did the job come to its
// end then?
bool EndedWellBehind(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  auto ended = [&](const RankTalk& talk) {
    auto end = talk.normal_ends.find(events.input[row]);
    return end != talk.normal_ends.end() && end->second > events.line[row];
  };
  return ended(scene.talk.nobody) || std::ranges::any_of(scene.talk.ranks, [&](const auto& each) {
           return ended(each.second);
         });
}

std::string OutsideInWords(const Outside& outside, std::string_view text) {
  const int64_t signal = NumberAfter(text, "got signal: ");
  if (outside.sign != kGotSignal || signal <= 0 || signal > 64) return std::string(outside.words);
  return fmt::format("The launcher was told to stop by {}",
                     CodeInWords(-static_cast<int32_t>(signal)));
}

// The line that says most: the order of `signs`.
bool FindOutside(const Scene& scene, std::span<const Outside> signs,
                 std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (const Outside& outside : signs) {
    for (size_t row : scene.talk.scheduler) {
      std::string_view text = scene.model.pools.Text(events.text[row]);
      if (!Contains(text, outside.sign) || Contains(text, "DUE TO TASK FAILURE")) continue;
      if (EndedWellBehind(scene, row)) continue;
      Finding finding = NewFinding(scene, "text_hang.ended");
      finding.headline = OutsideInWords(outside, text) + AtTime(events.time_ns[row]);
      finding.evidence.push_back(LineAsEvidence(scene, row));
      AddRows(scene, scene.talk.scheduler, finding);
      finding.confidence = 0.8;
      finding.why =
          "the launcher or the scheduler reports it; the texts show no rank that failed before";
      finding.next_step = outside.next;
      findings.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

// ---- a process without a rank

// " of local rank 1", where a launcher names no other; several hosts have one.
std::string LocalRankOf(const Scene& scene, const End& end) {
  const auto& exits = scene.model.tables.Get<ProcessExitTable>();
  for (size_t row : end.rows) {
    if (exits.local_rank[row] != kNone32)
      return fmt::format(" of local rank {}", exits.local_rank[row]);
  }
  return {};
}

std::string NamelessInWords(const Scene& scene, const End& end) {
  if (end.by_kernel && end.exit_code == -9) return "The kernel killed a process: out of memory";
  const std::string pod =
      end.said_by == "kubernetes" && !end.host.empty() ? fmt::format("Pod {}", end.host) : "";
  const bool by_slurm = end.said_by == "slurm";
  if (end.by_memory && end.exit_code == -9 && by_slurm)
    return "Slurm ended a step of the job: out of memory";
  if (by_slurm)
    return fmt::format("Slurm reports a step of the job that ended by {}",
                       CodeInWords(end.exit_code));
  if (end.by_memory && end.exit_code == -9)
    return fmt::format("{} was killed: out of memory (OOMKilled)",
                       pod.empty() ? "A container" : pod);
  if (!pod.empty()) return fmt::format("{} ended by {}", pod, CodeInWords(end.exit_code));
  if (end.said_by == "rank")
    return fmt::format("A process ended by {}", CodeInWords(end.exit_code));
  if (end.said_by == "ray")
    return "Ray reports a worker process that died without an exit code (SYSTEM_ERROR)";
  const bool nameless = end.said_by == "shell" || end.said_by == "launcher";
  return fmt::format("{}{} reports a process{} that ended by {}", nameless ? "The " : "",
                     end.said_by, LocalRankOf(scene, end), CodeInWords(end.exit_code));
}

// What to look at first, by how the process ended.
std::string_view NextByCode(const End& end) {
  if (end.by_kernel || end.by_memory)
    return "Give the host or the container more memory, or use less: data loader workers, pinned "
           "memory. ";
  if (end.exit_code == -9)
    return "Look for the out-of-memory killer in the kernel log of the host (dmesg) and for a "
           "memory limit of the job. ";
  if (end.exit_code == -7)
    return "Look at the size of /dev/shm (docker --shm-size): when it is full, processes end so. ";
  if (end.exit_code < 0 && !IsTold(end.exit_code))
    return "Run with PYTHONFAULTHANDLER=1, which prints the Python line, or look at the core "
           "dump. ";
  return "";
}

bool FindNameless(const Scene& scene, std::vector<Finding>& findings) {
  const End* best = nullptr;
  for (const End& end : scene.talk.nameless) {
    bool bad = end.known() && end.exit_code != 0;
    bool better = bad && (best == nullptr || (best->stopped && !end.stopped) ||
                          (!best->by_kernel && end.by_kernel) ||
                          (!best->by_kernel && !best->by_memory && end.by_memory));
    if (better) best = &end;
  }
  if (best == nullptr) return false;
  Finding finding = NewFinding(scene, "text_hang.ended");
  finding.headline = NamelessInWords(scene, *best) + AtTime(best->time_ns);
  for (size_t row : best->rows) finding.evidence.push_back(ExitAsEvidence(scene, row));
  AddRows(scene, scene.talk.nobody.troubles, finding);
  finding.confidence = 0.5;
  finding.why = "no text says which rank that process was";
  finding.next_step = fmt::format(
      "{}Keep the output of each rank in a file of its own (torchrun --redirects 3 --log-dir DIR), "
      "or run with NCCL_DEBUG=INFO, which prints which process is which rank.",
      NextByCode(*best));
  findings.push_back(std::move(finding));
  return true;
}

// ---- an exception in a text of nobody

// A text of nobody may be that of a tool that looked at the job later.
bool IsOfTool(const Scene& scene, size_t row) {
  std::string_view file =
      scene.model.pools.Text(scene.model.tables.Get<TextEventTable>().file[row]);
  return Contains(file, "flight_recorder") || Contains(file, "fr_trace");
}

// A text that ends inside of a traceback has the last frame in place of the exception.
bool IsCutOff(std::string_view text) {
  return text.empty() || text.starts_with(' ') || text.starts_with("Traceback") ||
         text.starts_with("File \"");
}

constexpr std::string_view kAborted = "A process aborted: ";

// What stands before the reason in a headline.
std::string_view OpeningOf(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  if (scene.model.pools.Text(events.text[row]).starts_with("pod ")) return "Kubernetes reports ";
  const std::string_view kind = scene.model.pools.Text(events.kind[row]);
  if (Contains(scene.model.pools.Text(events.text[row]), "memory pressure (OOM)"))
    return "Ray reports ";
  if (kind == "terminate" || Contains(scene.model.pools.Text(events.text[row]), "terminate called"))
    return kAborted;
  return kind == "no_start" ? "The job did not start: " : "A process ended with ";
}

Finding ExceptionFinding(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const size_t wrapper = row;
  row = RootException(scene.model, row);
  const std::string_view said = scene.model.pools.Text(events.text[row]);
  std::string_view file = scene.model.pools.Text(events.file[row]);
  const std::string place =
      file.empty() ? "" : " at " + debrief::CodeInWords("", file, events.file_line[row]);
  const std::string_view opening = OpeningOf(scene, row);
  const std::string reason = IsCutOff(said) && opening != kAborted
                                 ? "an exception that its output no longer names,"
                                 : ExceptionInWords(said);
  // Where the message does not fit behind them, the first words are what is left out.
  const bool alone = TextWidth(reason) + opening.size() + place.size() > kLongestHeadline;
  const std::string text = FitReason(reason, (alone ? 0 : opening.size()) + place.size());
  Finding finding = NewFinding(scene, "text_hang.ended");
  finding.headline = said.starts_with("KeyboardInterrupt")
                         ? std::string("A process was interrupted (KeyboardInterrupt)")
                         : fmt::format("{}{}", alone ? "" : opening, text);
  finding.headline += place;
  if (!file.empty()) finding.source.push_back({kNone32, std::string(file), events.file_line[row]});
  finding.evidence.push_back(LineAsEvidence(scene, row));
  if (wrapper != row) finding.evidence.push_back(LineAsEvidence(scene, wrapper));
  finding.confidence = 0.7;
  finding.why = "the text ends there; it does not say which rank it is of";
  finding.next_step = RemedyOf(said);
  if (finding.next_step.empty())
    finding.next_step = "Read the traceback around the line that the evidence names.";
  return finding;
}

// What may be asked of an exception.
enum class Which : uint8_t { kPlaced, kLastWords, kCutOff, kWithoutPlace };

Which WhichIs(const Scene& scene, size_t row) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  const bool aborts = scene.model.pools.Text(events.kind[row]) == "terminate" ||
                      scene.model.pools.Text(events.text[row]).starts_with("terminate called");
  if (events.file[row] == StringId::kNone) return aborts ? Which::kLastWords : Which::kWithoutPlace;
  return IsCutOff(scene.model.pools.Text(events.text[row])) ? Which::kCutOff : Which::kPlaced;
}

// The last of `rows` that ends a text. Exit codes are told elsewhere.
bool FindLastOf(const Scene& scene, const Rows& rows, Which which, bool of_thread,
                std::vector<Finding>& findings) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  for (size_t i = rows.size(); i-- > 0;) {
    size_t row = rows[i];
    std::string_view kind = scene.model.pools.Text(events.kind[row]);
    bool placed = events.file[row] != StringId::kNone;
    bool code = kind == "exit" || kind == "signal";
    std::string_view text = scene.model.pools.Text(events.text[row]);
    bool launcher = Contains(text, "ChildFailedError") || (code && IsAftermath(text));
    if (WhichIs(scene, row) != which || launcher || (code && !placed)) continue;
    if ((events.of_thread[row] != 0) != of_thread) continue;
    // A table of pods has one in each row, and no end.
    const bool ends = text.starts_with("pod ") || EndsOutput(scene, scene.talk.nobody, row);
    if (!ends || IsOfTool(scene, row)) continue;
    findings.push_back(ExceptionFinding(scene, row));
    return true;
  }
  return false;
}

// What ended a thread is told when nothing else is.
bool FindLastException(const Scene& scene, const Rows& rows, Which which,
                       std::vector<Finding>& findings) {
  return FindLastOf(scene, rows, which, false, findings) ||
         FindLastOf(scene, rows, which, true, findings);
}

// What a native library printed last says why its process aborted; that a shell or a launcher saw
// it abort says less. Who was killed for lack of memory did not abort.
bool FindLastWords(const Scene& scene, std::vector<Finding>& findings) {
  const bool killed = std::ranges::any_of(
      scene.talk.nameless, [](const End& end) { return end.by_kernel || end.by_memory; });
  return !killed &&
         FindLastException(scene, scene.talk.nobody.troubles, Which::kLastWords, findings);
}

// Has a launcher seen every process end well? Then what their text ends with was caught.
bool AllEndedWell(const Talk& talk) {
  auto well = [](const End& end) {
    return end.known() && end.exit_code == 0 && end.said_by != "rank";
  };
  const bool any = !talk.nameless.empty() || !talk.ranks.empty();
  return any && std::ranges::all_of(talk.nameless, well) &&
         std::ranges::all_of(talk.ranks, [&](const auto& each) { return well(each.second.end); });
}

// ---- ranks that only followed another

bool WasInterrupted(const Scene& scene, const RankTalk& talk) {
  const auto& events = scene.model.tables.Get<TextEventTable>();
  return std::any_of(talk.aftermaths.begin(), talk.aftermaths.end(), [&](size_t row) {
    return Contains(scene.model.pools.Text(events.text[row]), "KeyboardInterrupt");
  });
}

// "[W1115 23:22:30.258 TCPStore.cpp:125] ... Connection reset by peer": said at normal ends, too,
// when rank 0 and its store are gone a little earlier.
bool IsWarning(const Scene& scene, size_t row) {
  std::string_view text =
      scene.model.pools.Text(scene.model.tables.Get<TextEventTable>().text[row]);
  return text.size() > 2 && text.starts_with("[W") && IsDigit(text[2]);
}

// The launcher's first failure, which by itself says nothing: a watchdog ends its process by
// SIGABRT.
bool FindFollowers(const Scene& scene, std::vector<Finding>& findings) {
  std::vector<int32_t> ended;
  const RankTalk* first = nullptr;
  int32_t first_rank = kNone32;
  for (const auto& [rank, talk] : scene.talk.ranks) {
    bool lost = std::any_of(talk.remote_errors.begin(), talk.remote_errors.end(),
                            [&](size_t row) { return !IsWarning(scene, row); });
    bool bad = (talk.end.known() && talk.end.exit_code != 0) || talk.teardown ||
               !talk.dump_signals.empty() || lost ||
               (!talk.aftermaths.empty() && EndsOutput(scene, talk, talk.aftermaths.back()));
    if (!bad) continue;
    ended.push_back(rank);
    bool better = first == nullptr || (talk.end.first && !first->end.first);
    if (!better) continue;
    first = &talk;
    first_rank = rank;
  }
  if (first == nullptr) return false;
  Finding finding = NewFinding(scene, "text_hang.ended");
  // That it ended with an exception is told by the exception.
  const bool told = first->end.known() && first->end.exit_code != 0 && first->end.said_by != "rank";
  std::string what = told ? fmt::format("by {}", CodeInWords(first->end.exit_code))
                     : WasInterrupted(scene, *first) ? "by an interrupt"
                                                     : "because communication failed";
  finding.headline = fmt::format("{} ended, {}rank {} {}{}", RanksAsSubject(ended),
                                 ended.size() > 1 ? "first seen is " : "", first_rank, what,
                                 AtTime(first->end.time_ns));
  if (ended.size() == 1)
    finding.headline =
        fmt::format("Rank {} ended {}{}", first_rank, what, AtTime(first->end.time_ns));
  for (size_t row : first->end.rows) {
    if (told || first->aftermaths.empty()) finding.evidence.push_back(ExitAsEvidence(scene, row));
  }
  AddRows(scene, first->remote_errors, finding);
  AddRows(scene, first->aftermaths, finding);
  if (finding.evidence.empty() && first->last_line != RankTalk::kNoRow)
    finding.evidence.push_back(LineAsEvidence(scene, first->last_line));
  finding.confidence = 0.4;
  finding.why =
      "a process ends like this when another one died or hangs; the texts do not say which";
  finding.next_step =
      scene.talk.OutputIsKnown(first_rank)
          ? "Look at Flight Recorder dumps, at the output of the other ranks and nodes, "
            "and at the kernel log."
          : fmt::format(
                "Add the error output of rank {}: it says whether its watchdog "
                "ended it.",
                first_rank);
  findings.push_back(std::move(finding));
  return true;
}

}  // namespace

void FindStaleSignal(const Scene& scene, std::vector<Finding>& findings) {
  if (!scene.talk.stale_signal || scene.talk.attempt <= 0) return;
  const auto& events = scene.model.tables.Get<TextEventTable>();
  Finding finding = NewFinding(scene, "text_hang.stale_signal");
  finding.headline = fmt::format(
      "The restart, attempt {}, failed at its start: attempt {} had left a dump signal in the "
      "store",
      scene.talk.attempt, scene.talk.attempt - 1);
  for (const auto& [rank, talk] : scene.talk.ranks) {
    for (size_t row : talk.dump_signals) {
      bool stale = events.last_enqueued[row] == -1;
      if (stale && finding.evidence.size() < kMostLines)
        finding.evidence.push_back(LineAsEvidence(scene, row));
    }
  }
  finding.confidence = 0.9;
  finding.why = "its ranks received a dump signal before they had enqueued any work";
  finding.next_step =
      fmt::format("Fix what ended attempt {}; a restart needs a new store (another rendezvous id).",
                  scene.talk.attempt - 1);
  findings.push_back(std::move(finding));
}

std::string CodeInWords(int32_t exit_code) {
  if (exit_code >= 0) return fmt::format("exit code {}", exit_code);
  const std::string name = SignalName(-exit_code);
  return name.starts_with("SIG") ? fmt::format("{} (signal {})", name, -exit_code) : name;
}

void FindEnded(const Scene& scene, std::vector<Finding>& findings) {
  size_t before = findings.size();
  if (FindOutside(scene, kOutside, findings) || FindNamelessGpuFault(scene, findings) ||
      FindSetup(scene, findings))
    return;
  FindSeveralSilent(scene, findings);
  // A launcher also stops the others after a watchdog has ended its process.
  if (findings.size() > before || !scene.talk.RanksThatTimedOut().empty() ||
      FindOutside(scene, kToldToStop, findings) || AllEndedWell(scene.talk))
    return;
  const RankTalk& nobody = scene.talk.nobody;
  (void)(FindLastException(scene, nobody.troubles, Which::kPlaced, findings) ||
         FindLastWords(scene, findings) || FindNameless(scene, findings) ||
         FindFollowers(scene, findings) ||
         FindLastException(scene, nobody.troubles, Which::kCutOff, findings) ||
         FindLastException(scene, nobody.troubles, Which::kWithoutPlace, findings) ||
         FindLastException(scene, nobody.aftermaths, Which::kPlaced, findings));
}

}  // namespace debrief::analyses::text_hang
