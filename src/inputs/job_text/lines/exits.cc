#include "inputs/job_text/lines/exits.h"

#include <algorithm>
#include <utility>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr int32_t kKill = -9;
constexpr int32_t kTerminate = -15;
constexpr size_t kMostTasks = 4096;

using Statement = std::optional<ExitStatement>;

// The word behind `key`, up to one of `stops`.
std::string_view WordAfter(std::string_view text, std::string_view key,
                           std::string_view stops = " ,:)") {
  size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, std::min(rest.find_first_of(stops), rest.size()));
}

Statement OfTorchrun(std::string_view text) {
  ExitStatement exit{.said_by = "torchrun", .ranks = {}, .host = {}};
  if (Contains(text, "failed (exitcode: ") && Contains(text, "local_rank: ")) {
    exit.exit_code = WithoutShell(ParseExitCode(text));
    exit.local_rank = SmallNumberAfter(text, "local_rank: ");
    exit.pid = NumberAfter(text, "(pid: ");
    exit.first = true;
    return exit;
  }
  // "[2]: time : ... host : n2 rank : 2 (local_rank: 2) exitcode : -6 (pid: 189) error_file: ...":
  // a log service made one line of an entry of the list.
  if (Contains(text, " (local_rank: ") && Contains(text, "exitcode") && Contains(text, "(pid: ")) {
    const size_t behind = std::min(text.find("rank "), text.find("rank:"));
    if (behind == std::string_view::npos) return std::nullopt;
    const int32_t rank = SmallNumberAfter(text.substr(behind), ": ");
    if (rank == kNone32) return std::nullopt;
    exit.ranks = {rank};
    exit.local_rank = SmallNumberAfter(text, "(local_rank: ");
    exit.exit_code = WithoutShell(ParseExitCode(text));
    exit.pid = NumberAfter(text, "(pid: ");
    exit.first = Contains(text, "Root Cause");
    return exit;
  }
  exit.how = "stopped";
  if (Contains(text, "Sending process ") && Contains(text, "closing signal")) {
    exit.pid = NumberAfter(text, "Sending process ");
    return exit;
  }
  if (Contains(text, "Closing process ") && Contains(text, "via signal")) {
    exit.pid = NumberAfter(text, "Closing process ");
    return exit;
  }
  if (!Contains(text, "Unable to shutdown process ")) return std::nullopt;
  exit.pid = NumberAfter(text, "Unable to shutdown process ");
  exit.exit_code = kKill;
  return exit;
}

// srun: error: n[01-03]: tasks 3-5,7: Exited with exit code 1
Statement OfSrun(std::string_view text) {
  constexpr std::string_view kOpen = "srun: error: ";
  if (!text.starts_with(kOpen)) return std::nullopt;
  size_t task = text.find(": task");
  if (task == std::string_view::npos) return std::nullopt;
  ExitStatement exit{.said_by = "srun", .ranks = {}, .host = {}};
  std::string_view host = text.substr(kOpen.size(), task - kOpen.size());
  if (!Contains(host, "[")) exit.host = host;
  std::string_view list = text.substr(task + 6);
  if (list.starts_with('s')) list.remove_prefix(1);
  list = list.substr(std::min(list.find_first_not_of(' '), list.size()));
  size_t colon = std::min(list.find(':'), list.size());
  std::string_view end = list.substr(colon);
  exit.ranks = ParseRanges(list.substr(0, colon));
  exit.exit_code = ParseExitCode(end);
  if (exit.exit_code == kNone32 && Contains(end, "Out Of Memory")) exit.exit_code = kKill;
  if (exit.exit_code == kNone32) exit.exit_code = ParseSignal(end);
  exit.exit_code = WithoutShell(exit.exit_code);
  if (exit.exit_code == kNone32) return std::nullopt;
  // Several tasks do not end so by chance.
  if (exit.exit_code == kTerminate && exit.ranks.size() != 1) exit.how = "stopped";
  return exit;
}

Statement OfMpirun(std::string_view text) {
  ExitStatement exit{.said_by = "mpirun", .ranks = {}, .host = {}, .first = true};
  if (Contains(text, " process rank ") &&
      (Contains(text, " exited on") || Contains(text, " has exited due to"))) {
    int32_t rank = SmallNumberAfter(text, " process rank ");
    if (rank == kNone32) return std::nullopt;
    exit.ranks = {rank};
    exit.pid = NumberAfter(text, "with PID ");
    if (exit.pid == 0) exit.pid = kNone64;  // version 4 does not know it
    exit.host = WordAfter(text, "on node ");
    exit.exit_code = ParseRestOfExit(text);
    exit.open = exit.exit_code == kNone32;
    return exit;
  }
  // "Process name: [[1,1],2]", "Process name: [prterun-n1-7@1,2]"
  size_t name = text.find("Process name: [");
  size_t comma = text.rfind(',');
  if (name == std::string_view::npos || comma == std::string_view::npos || comma < name)
    return std::nullopt;
  int32_t rank = SmallNumberAfter(text.substr(comma), ",");
  if (rank == kNone32) return std::nullopt;
  exit.ranks = {rank};
  exit.open = true;
  return exit;
}

// "Process 0 exit with status code 137.", of horovodrun about a rank.
Statement OfHorovod(std::string_view text) {
  constexpr std::string_view kKey = " exit with status code ";
  if (!text.starts_with("Process ") || !Contains(text, kKey)) return std::nullopt;
  const int32_t rank = SmallNumberAfter(text, "Process ");
  if (rank == kNone32) return std::nullopt;
  ExitStatement exit{.said_by = "horovodrun", .ranks = {rank}, .host = {}, .first = true};
  exit.exit_code = WithoutShell(SmallNumberAfter(text, kKey));
  return exit.exit_code == kNone32 ? std::nullopt : Statement(exit);
}

//   =   RANK 3 PID 4711 RUNNING AT n2
Statement OfMpich(std::string_view text) {
  if (!text.starts_with("= ") || !Contains(text, "RUNNING AT ")) return std::nullopt;
  ExitStatement exit{.said_by = "mpich", .ranks = {}, .host = {}, .first = true, .open = true};
  int32_t rank = SmallNumberAfter(text, "RANK ");
  if (rank != kNone32) exit.ranks = {rank};
  exit.pid = NumberAfter(text, "PID ");
  exit.host = WordAfter(text, "RUNNING AT ");
  return exit;
}

// "[node7:236649] Signal: Segmentation fault (11)", of a process of Open MPI about itself.
Statement OfOpenMpi(std::string_view text) {
  constexpr std::string_view kKey = "] Signal: ";
  const size_t at = text.find(kKey);
  if (!text.starts_with('[') || at == std::string_view::npos || !text.ends_with(')'))
    return std::nullopt;
  const int32_t signal = SmallNumberAfter(text.substr(text.rfind('(')), "(");
  if (signal <= 0 || signal >= 64) return std::nullopt;
  ExitStatement exit{.said_by = "mpirun", .ranks = {}, .host = {}, .exit_code = -signal};
  const std::string_view who = text.substr(1, at - 1);
  const size_t colon = who.rfind(':');
  if (colon != std::string_view::npos) exit.pid = NumberAfter(who.substr(colon), ":");
  return exit;
}

// Out of memory: Killed process 4711 (python) ...; python[4711]: segfault at 0 ip ...
Statement OfKernel(std::string_view text) {
  ExitStatement exit{.said_by = "kernel", .ranks = {}, .host = {}};
  if (Contains(text, "ut of memory: Killed process ") ||
      Contains(text, "Out of memory: Kill process ")) {
    exit.pid =
        NumberAfter(text, Contains(text, "Killed process ") ? "Killed process " : "Kill process ");
    exit.exit_code = kKill;
    return exit;
  }
  if (Contains(text, "oom-kill:constraint=")) {
    exit.pid = NumberAfter(text, ",pid=");
    exit.exit_code = kKill;
    return exit;
  }
  size_t fault = text.find("]: segfault at ");
  if (fault == std::string_view::npos) fault = text.find("] general protection fault");
  if (fault == std::string_view::npos) return std::nullopt;
  size_t open = text.rfind('[', fault);
  if (open == std::string_view::npos) return std::nullopt;
  exit.pid = NumberAfter(text.substr(open), "[");
  exit.exit_code = -11;
  return exit;
}

// "[rank: 1] Child process with PID 77 terminated with code 1. Forcefully terminating all other
// ..."
Statement OfLightning(std::string_view text) {
  if (!Contains(text, "Child process with PID ") || !Contains(text, "terminated with code "))
    return std::nullopt;
  ExitStatement exit{.said_by = "lightning", .ranks = {}, .host = {}, .first = true};
  exit.local_rank = SmallNumberAfter(text, "[rank: ");
  exit.pid = NumberAfter(text, "with PID ");
  exit.exit_code = WithoutShell(SmallNumberAfter(text, "with code "));
  return exit;
}

// "Rank 3 crashed with exit code -9.", "Global rank 3 (PID 77) exited with code 1"
Statement OfComposer(std::string_view text) {
  ExitStatement exit{.said_by = "composer", .ranks = {}, .host = {}};
  int32_t rank = kNone32;
  if (size_t at = text.find("Rank ");
      at != std::string_view::npos && Contains(text, " crashed with exit code ")) {
    rank = SmallNumberAfter(text.substr(at), "Rank ");
    exit.exit_code = SmallNumberAfter(text, "exit code ");
    exit.first = true;
  } else if (Contains(text, "Global rank ") && Contains(text, " exited with code ")) {
    rank = SmallNumberAfter(text, "Global rank ");
    exit.pid = NumberAfter(text, "(PID ");
    exit.exit_code = SmallNumberAfter(text, "exited with code ");
  }
  if (rank == kNone32 || exit.exit_code == kNone32) return std::nullopt;
  exit.ranks = {rank};
  exit.exit_code = WithoutShell(exit.exit_code);
  if (exit.exit_code == kTerminate) exit.how = "stopped";
  return exit;
}

// "['python', '-u', 'train.py', '--local_rank=3'] exits with return code = 7", "Process 4711 exits
// successfully."
Statement OfDeepSpeed(std::string_view text) {
  ExitStatement exit{.said_by = "deepspeed", .ranks = {}, .host = {}};
  constexpr std::string_view kReturns = "exits with return code = ";
  if (size_t at = text.find(kReturns); at != std::string_view::npos) {
    exit.exit_code = WithoutShell(SmallNumberAfter(text, kReturns));
    exit.local_rank = SmallNumberAfter(text.substr(0, at), "--local_rank=");
    exit.first = true;
  } else if (Contains(text, " exits successfully.")) {
    exit.pid = NumberAfter(text, "Process ");
    exit.exit_code = 0;
  }
  return exit.exit_code == kNone32 ? std::nullopt : Statement(exit);
}

// The program of a command as Python prints it: "gcc" of "'['/usr/bin/gcc', 'main.c', ...".
std::string_view ProgramOfCommand(std::string_view command) {
  command.remove_prefix(std::min(command.find_first_not_of("'\"[ "), command.size()));
  command = command.substr(0, command.find_first_of("'\" "));
  return command.substr(command.find_last_of("/\\") + 1);  // npos + 1 is 0
}

bool IsCompiler(std::string_view program) {
  constexpr std::string_view kCompilers[] = {"gcc",  "g++",   "cc",    "c++",  "clang", "clang++",
                                             "nvcc", "hipcc", "ptxas", "cicc", "ninja", "ld"};
  // "x86_64-linux-gnu-gcc-12", "clang-17"
  while (!program.empty() &&
         (IsDigit(program.back()) || program.back() == '-' || program.back() == '.'))
    program.remove_suffix(1);
  const size_t dash = program.rfind('-');
  return std::ranges::find(kCompilers, program.substr(dash + 1)) != std::end(kCompilers);
}

// accelerate and others that start one process and raise what became of it. Programs run other
// commands, too, and live on when one fails: git, nvidia-smi, compilers.
Statement OfSubprocess(std::string_view text) {
  constexpr std::string_view kOpen = "CalledProcessError: Command ";
  size_t at = text.find(kOpen);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view command = text.substr(at);
  if (IsCompiler(ProgramOfCommand(command.substr(kOpen.size())))) return std::nullopt;
  bool trains = Contains(command, "python") || Contains(command, ".py") ||
                Contains(command, "torchrun") || Contains(command, "deepspeed");
  if (!trains) return std::nullopt;
  ExitStatement exit{.said_by = "accelerate", .ranks = {}, .host = {}};
  if (Contains(command, "died with <Signals.SIG")) exit.exit_code = ParseSignal(command);
  if (exit.exit_code == kNone32)
    exit.exit_code = SmallNumberAfter(command, "returned non-zero exit status ");
  if (exit.exit_code == kNone32) return std::nullopt;
  exit.exit_code = WithoutShell(exit.exit_code);
  return exit;
}

// torch.multiprocessing: "process 3 terminated with signal SIGKILL", "... with exit code 1"
Statement OfSpawn(std::string_view text) {
  size_t at = text.find("rocess ");
  if (at == std::string_view::npos || !Contains(text, " terminated with ")) return std::nullopt;
  ExitStatement exit{.said_by = "spawn", .ranks = {}, .host = {}, .first = true};
  exit.local_rank = SmallNumberAfter(text.substr(at), "rocess ");
  if (exit.local_rank == kNone32) return std::nullopt;
  if (Contains(text, "terminated with exit code "))
    exit.exit_code = SmallNumberAfter(text, "exit code ");
  if (Contains(text, "terminated with signal ")) exit.exit_code = ParseSignal(text);
  if (exit.exit_code == kNone32) return std::nullopt;
  exit.exit_code = WithoutShell(exit.exit_code);
  return exit;
}

// "-- Process 1 terminated with the following error:", before its traceback.
Statement OfRaisedInSpawn(std::string_view text) {
  if (!text.starts_with("-- Process ") || !Contains(text, "terminated with the following error"))
    return std::nullopt;
  ExitStatement exit{.said_by = "spawn", .ranks = {}, .host = {}, .exit_code = 1, .first = true};
  exit.local_rank = SmallNumberAfter(text, "-- Process ");
  return exit;
}

// "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD"; its code stands below.
Statement OfMpiAbort(std::string_view text) {
  constexpr std::string_view kKey = "MPI_ABORT was invoked on rank ";
  int32_t rank = SmallNumberAfter(text, kKey);
  if (rank == kNone32) return std::nullopt;
  return ExitStatement{
      .said_by = "mpirun", .ranks = {rank}, .host = {}, .first = true, .open = true};
}

// (raylet) A worker died or was killed while executing a task by an unexpected system error. ...
// Worker PID: 8103 Worker exit type: SYSTEM_ERROR Worker exit detail: ...
Statement OfRaylet(std::string_view text) {
  if (!Contains(text, "Worker exit type: ")) return std::nullopt;
  ExitStatement exit{.said_by = "ray", .ranks = {}, .host = {}, .first = true};
  exit.pid = NumberAfter(text, "Worker PID: ");
  if (exit.pid == kNone64) return std::nullopt;
  if (Contains(text, "Worker exit type: INTENDED")) return std::nullopt;
  exit.exit_code = kKill;
  return exit;
}

// Describes of pods: "Exit Code:    137", "exitCode: 137"; "Reason:       OOMKilled"
Statement OfKubernetes(std::string_view text) {
  std::string_view trimmed = Trimmed(text, " \t\"-");
  ExitStatement exit{.said_by = "kubernetes", .ranks = {}, .host = {}};
  if (trimmed.starts_with("Exit Code:")) exit.exit_code = SmallNumberAfter(trimmed, "Exit Code:");
  if (trimmed.starts_with("exitCode:")) exit.exit_code = SmallNumberAfter(trimmed, "exitCode:");
  if (exit.exit_code == kNone32) return std::nullopt;
  exit.exit_code = WithoutShell(exit.exit_code);
  if (exit.exit_code == kTerminate) exit.how = "stopped";
  return exit;
}

// msg="Pod: kubeflow.bert-worker-0 exited with code 1", of the operator that runs the job.
Statement OfOperator(std::string_view text) {
  constexpr std::string_view kPod = "Pod: ", kKey = " exited with code ";
  const size_t at = text.find(kPod), key = text.find(kKey, at);
  if (at == std::string_view::npos || key == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(at + kPod.size(), key - at - kPod.size());
  if (name.empty() || name.find(' ') != std::string_view::npos) return std::nullopt;
  ExitStatement exit{.said_by = "kubernetes", .ranks = {}, .host = {}};
  exit.host = name.substr(name.find('.') + 1);  // npos + 1 is 0
  exit.exit_code = WithoutShell(SmallNumberAfter(text.substr(key), kKey));
  if (exit.exit_code == kTerminate) exit.how = "stopped";
  return exit.exit_code == kNone32 ? std::nullopt : Statement(exit);
}

// "train-worker-1 exited with code 137", of docker compose.
Statement OfDocker(std::string_view text) {
  constexpr std::string_view kKey = " exited with code ";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::string_view name = text.substr(0, at), code = text.substr(at + kKey.size());
  const bool container = name.find(' ') == std::string_view::npos &&
                         name.find_first_of("-_") != std::string_view::npos && IsDigit(name.back());
  if (!container || code.find_first_not_of("0123456789") != std::string_view::npos)
    return std::nullopt;
  ExitStatement exit{.said_by = "docker", .ranks = {}, .host = name};
  exit.exit_code = WithoutShell(SmallNumberAfter(code, ""));
  if (exit.exit_code == kTerminate) exit.how = "stopped";
  return exit.exit_code == kNone32 ? std::nullopt : Statement(exit);
}

// "zsh: segmentation fault  python train.py", "[1]    22946 killed     python train.py"
Statement OfZsh(std::string_view text) {
  constexpr std::pair<std::string_view, int32_t> kEnds[] = {
      {"killed", 9},    {"segmentation fault", 11},          {"abort", 6},
      {"bus error", 7}, {"illegal hardware instruction", 4}, {"floating point exception", 8}};
  ExitStatement exit{.said_by = "shell", .ranks = {}, .host = {}};
  std::string_view rest = text;
  if (rest.starts_with("zsh: ")) {
    rest.remove_prefix(5);
  } else {
    const size_t close = rest.find("] ");
    if (!rest.starts_with('[') || close == std::string_view::npos || close > 4) return std::nullopt;
    rest = Trimmed(rest.substr(close + 1), " +-");
    exit.pid = NumberAfter(rest, "");
    if (exit.pid == kNone64) return std::nullopt;
    rest = Trimmed(rest.substr(std::min(rest.find_first_not_of("0123456789"), rest.size())));
  }
  for (const auto& [word, signal] : kEnds) {
    if (!rest.starts_with(word) || !rest.substr(word.size()).starts_with(' ')) continue;
    exit.exit_code = -signal;
    return exit;
  }
  return std::nullopt;
}

// What services and tools that run a command say of its end, without saying which process it was:
// "The replica workerpool0-0 exited with a non-zero status of 1.", "ExitCode 137" of SageMaker,
// "make: *** [Makefile:12: train] Error 137".
Statement OfRunner(std::string_view text) {
  ExitStatement exit{.said_by = "launcher", .ranks = {}, .host = {}};
  constexpr std::string_view kStatus = " exited with a non-zero status of ";
  if (text.starts_with("The replica ") && Contains(text, kStatus)) {
    exit.host = WordAfter(text, "The replica ");
    exit.exit_code = SmallNumberAfter(text, kStatus);
  } else if (text.starts_with("Execution failed. ") && Contains(text, "exited with status code ")) {
    exit.exit_code = SmallNumberAfter(text, "exited with status code ");  // of Azure
  } else if (text.starts_with("ExitCode ") && text.size() < 16) {
    exit.exit_code = SmallNumberAfter(text, "ExitCode ");
  } else if (text.starts_with("make") && Contains(text, ": *** [")) {
    exit.exit_code = SmallNumberAfter(text, "] Error ");
  }
  if (exit.exit_code == kNone32) return std::nullopt;
  exit.exit_code = WithoutShell(exit.exit_code);
  return exit;
}

// "run.sh: line 12:  4711 Killed                  python train.py", "Segmentation fault (core
// dumped)"
Statement OfShell(std::string_view text) {
  constexpr std::string_view kEnds[] = {
      "Killed",    "Segmentation fault",  "Aborted",
      "Bus error", "Illegal instruction", "Floating point exception"};
  ExitStatement exit{.said_by = "shell", .ranks = {}, .host = {}};
  std::string_view end = text;
  if (size_t line = text.find(": line "); line != std::string_view::npos) {
    size_t colon = text.find(": ", line + 2);
    if (colon == std::string_view::npos) return std::nullopt;
    end = Trimmed(text.substr(colon + 2));
    exit.pid = NumberAfter(end, "");
    end = Trimmed(end.substr(std::min(end.find_first_not_of("0123456789"), end.size())));
    if (exit.pid == kNone64) return std::nullopt;
  }
  for (std::string_view word : kEnds) {
    if (!end.starts_with(word)) continue;
    std::string_view rest = end.substr(word.size());
    bool alone = rest.empty() || rest == " (core dumped)";
    if (!alone && !(exit.pid != kNone64 && (rest.starts_with(' ')))) continue;
    exit.exit_code = ParseSignal(word);
    return exit;
  }
  return std::nullopt;
}

// "Subprocess scheduler_0 (pid=1123) crashed with exit code -9.", "Rank 0 scheduler is dead.",
// "Worker VllmWorkerProcess pid 123 died, exit code: -9"
Statement OfServing(std::string_view text) {
  constexpr int32_t kQuit = -3;  // of a scheduler that ended itself with the whole server
  ExitStatement exit{.said_by = "sglang", .ranks = {}, .host = {}, .first = true};
  if (size_t at = text.find("Subprocess ");
      at != std::string_view::npos && Contains(text, " crashed with exit code ")) {
    exit.local_rank = SmallNumberAfter(text.substr(at), "scheduler_");
    exit.pid = NumberAfter(text, "(pid=");
    exit.exit_code = SmallNumberAfter(text, "with exit code ");
    if (exit.exit_code == kQuit || exit.exit_code == kTerminate) exit.how = "stopped";
    return exit;
  }
  if (size_t at = text.find("Rank "); Contains(text, " scheduler is dead.")) {
    if (at == std::string_view::npos) return std::nullopt;
    exit.local_rank = SmallNumberAfter(text.substr(at), "Rank ");
    exit.open = true;
    return exit;
  }
  if (!Contains(text, "VllmWorkerProcess pid ") || !Contains(text, " died, exit code: "))
    return std::nullopt;
  exit.said_by = "vllm";
  exit.pid = NumberAfter(text, "VllmWorkerProcess pid ");
  exit.exit_code = SmallNumberAfter(text, " died, exit code: ");
  if (exit.exit_code == kTerminate) exit.how = "stopped";
  return exit;
}

}  // namespace

int32_t WithoutShell(int32_t exit_code) {
  constexpr int32_t kSignals[] = {4, 6, 7, 8, 9, 11, 15};
  bool shell = std::any_of(std::begin(kSignals), std::end(kSignals),
                           [&](int32_t signal) { return exit_code == 128 + signal; });
  return shell ? 128 - exit_code : exit_code;
}

std::vector<int32_t> ParseRanges(std::string_view text) {
  std::vector<int32_t> numbers;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view piece = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    int32_t first = SmallNumberAfter(piece, "");
    size_t dash = piece.find('-', 1);
    int32_t last =
        dash == std::string_view::npos ? first : SmallNumberAfter(piece.substr(dash), "-");
    if (first == kNone32 || first < 0 || last == kNone32) continue;
    for (int32_t number = first; number <= last && numbers.size() < kMostTasks; ++number)
      numbers.push_back(number);
  }
  return numbers;
}

int32_t ParseRestOfExit(std::string_view text) {
  for (std::string_view key : {"ignal ", "SIGNAL: "}) {
    int64_t number = NumberAfter(text, key);
    if (number > 0 && number < 128) return -static_cast<int32_t>(number);
  }
  for (std::string_view key :
       {"Exit code:", "EXIT CODE: ", "EXIT STATUS: ", "Errorcode: ", "with errorcode "}) {
    int32_t code = SmallNumberAfter(text, key);
    if (code != kNone32) return WithoutShell(code);
  }
  return kNone32;
}

std::optional<ExitStatement> ParseExit(std::string_view text) {
  for (auto parse :
       {OfTorchrun,      OfSrun,      OfMpirun,   OfHorovod,    OfOpenMpi,    OfMpich,
        OfKernel,        OfLightning, OfComposer, OfDeepSpeed,  OfSubprocess, OfRaylet,
        OfRaisedInSpawn, OfSpawn,     OfMpiAbort, OfKubernetes, OfServing,    OfOperator,
        OfDocker,        OfZsh,       OfRunner,   OfShell}) {
    if (auto exit = parse(text)) return exit;
  }
  return std::nullopt;
}

}  // namespace debrief::inputs::job_text
