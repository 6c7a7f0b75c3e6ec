#include "inputs/job_text/lines/exception_lines.h"

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

constexpr std::string_view kHead = "Traceback (most recent call last)";

template <size_t kCount>
bool BeginsWithAny(std::string_view text, const std::string_view (&words)[kCount]) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return text.starts_with(word); });
}

// "ValueError                    Traceback (most recent call last)" of a notebook.
bool IsNotebookHead(std::string_view before, std::string_view rest) {
  const size_t name = before.find(' ');
  return rest.empty() && name > 0 && before.size() >= name + 2 && before.ends_with("  ") &&
         Trimmed(before, " ").size() == name;
}

// "Traceback (most recent call last):", behind it the rank of a checkpoint's part; drawn by rich as
// the upper edge of a box.
bool IsTracebackHead(std::string_view text) {
  size_t at = text.find(kHead);
  if (at == std::string_view::npos) return false;
  std::string_view rest = text.substr(at + kHead.size());
  if (IsNotebookHead(text.substr(0, at), Trimmed(rest))) return true;
  return rest == ":" || rest.starts_with(": (RANK ") || text.starts_with("\u256d");
}

// The program that a line begins with: "python3.12" of "/usr/bin/python3.12: can't open file".
std::string_view ProgramOf(std::string_view text) {
  std::string_view path = text.substr(0, text.find(": "));
  return path.size() == text.size() ? std::string_view() : path.substr(path.rfind('/') + 1);
}

bool StartsJobs(std::string_view program) {
  constexpr std::string_view kPrograms[] = {"python",      "torchrun",  "deepspeed", "accelerate",
                                            "composer",    "srun",      "mpirun",    "mpiexec",
                                            "ft_launcher", "horovodrun"};
  return BeginsWithAny(program, kPrograms);
}

// "MeanSquaredError: 0.0231", "Error: 12.5 % (top-1)": a figure, and no error.
bool IsMeasured(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view value = Trimmed(text.substr(colon + 2), " ");
  const size_t digits = value.find_first_not_of("0123456789");
  const bool number = digits != 0 && digits != std::string_view::npos;
  return number &&
         (value[digits] == '.' || value[digits] == '%' || value.substr(digits, 2) == " %");
}

// "run.sh: line 9: torchrun: command not found", "/bin/sh: 1: python: not found". Scripts go on
// when they do not find other programs.
bool IsLauncherMissing(std::string_view text) {
  for (std::string_view end : {": command not found", ": not found"}) {
    if (!text.ends_with(end)) continue;
    std::string_view before = text.substr(0, text.size() - end.size());
    return StartsJobs(before.substr(before.rfind(' ') + 1));  // npos + 1 is 0
  }
  return false;
}

// docker, Apptainer, and the hook that gives a container its GPUs.
bool IsContainerRefused(std::string_view text) {
  constexpr std::string_view kBegins[] = {
      "docker: Error response from daemon: ", "Error response from daemon: ", "FATAL:   ",
      "nvidia-container-cli: "};
  return BeginsWithAny(text, kBegins);
}

// "mpirun was unable to launch the specified application ...", "ORTE was unable to reliably start".
bool IsMpiRefused(std::string_view text) {
  constexpr std::string_view kSigns[] = {" was unable to launch the specified application",
                                         " was unable to reliably start one or more daemons",
                                         " was unable to start one or more daemons",
                                         "There are not enough slots available"};
  return ContainsAny(text, kSigns);
}

}  // namespace

LineClass ClassOfTracebackLine(std::string_view text) {
  constexpr std::string_view kIgnoredOnes[] = {"Exception ignored in", "--- Logging error ---",
                                               "Error in atexit._run_exitfuncs"};
  constexpr std::string_view kThreads[] = {"Exception in thread ", "Task exception was never",
                                           "Exception in callback "};
  if (IsTracebackHead(text)) return LineClass::kTraceback;
  std::string_view bare = Trimmed(WithoutBars(text));
  if (bare.starts_with("The above exception was the direct cause")) return LineClass::kDirectCause;
  if (bare.starts_with("During handling of the above exception")) return LineClass::kWhileHandled;
  // A web server answers with an error, and goes on.
  const bool answers = Contains(text, "Exception in ASGI application");
  if (answers || BeginsWithAny(text, kIgnoredOnes)) return LineClass::kIgnored;
  if (BeginsWithAny(text, kThreads)) return LineClass::kOfThread;
  if (bare == "from user code:") return LineClass::kUserCode;
  if (bare == "Last error:") return LineClass::kLastError;
  if (text.starts_with("Exception in device=")) return LineClass::kSpawned;
  bool spawned =
      text.starts_with("-- Process ") && Contains(text, "terminated with the following error");
  // ray.exceptions.RayTaskError(ValueError): ray::Worker.run() (pid=4711, ip=10.0.0.6, ...
  spawned |=
      Contains(text, "RayTaskError(") && Contains(text, ": ray::") && Contains(text, "(pid=");
  if (spawned) return LineClass::kSpawned;
  bool block = text.starts_with("-----") &&
               (Contains(text, "Begin global rank ") || Contains(text, "End global rank "));
  return block ? LineClass::kBlock : LineClass::kOther;
}

bool IsInsideMessage(std::string_view text) {
  std::string_view bare = WithoutBars(text);
  return bare.starts_with("Original Traceback") || Contains(bare, "call last): (RANK ") ||
         (bare.size() != text.size() && bare.starts_with(kHead));
}

bool GoesOnInNextLine(std::string_view text) {
  // "RuntimeError: Error(s) in loading state_dict for Net:"
  const bool lists = text.ends_with(':') && Contains(text, "Error") && Contains(text, ": ");
  // "RuntimeError: ", with the whole message indented below it
  const std::string_view name = Trimmed(text);
  const bool bare = name.ends_with(':') && name.find_first_of(" \t") == std::string_view::npos &&
                    IsNamedException(name);
  return lists || bare || text.ends_with(" raised:") || Trimmed(text) == "Last error:";
}

bool IsNamedException(std::string_view text) {
  if (!LooksLikeException(text)) return false;
  const std::string_view name = text.substr(0, text.find(':'));
  const size_t dot = name.rfind('.');
  const std::string_view last = name.substr(dot + 1);  // npos + 1 is 0
  for (std::string_view end : {"Error", "Exception", "Interrupt", "Exit", "Timeout"}) {
    if (last.size() > end.size() && last.ends_with(end)) return true;
  }
  const bool of_module = dot != std::string_view::npos && name[0] >= 'a' && name[0] <= 'z';
  return of_module && last[0] >= 'A' && last[0] <= 'Z';
}

bool IsNormalEnd(std::string_view text) {
  constexpr std::string_view kSigns[] = {
      "raining completed", "raining complete.", "raining complete!", "raining complete,",
      "raining finished",  "raining is done",   "Finished training", "inished Training",
      "ompleted training", "raining done",      "'train_runtime':",  "`Trainer.fit` stopped: ",
  };
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return Contains(text, sign); });
}

bool IsClosingLine(std::string_view text) {
  constexpr size_t kLongest = 120, kLongestWord = 16;
  constexpr std::string_view kClosing[] = {"finished", "done", "complete",     "completed", "end",
                                           "ended",    "ends", "successfully", "goodbye"};
  constexpr std::string_view kOfAPart[] = {
      "epoch",       "step",    "steps",    "iter",       "iteration",  "batch", "round",
      "turn",        "task",    "stage",    "phase",      "part",       "shard", "file",
      "load",        "loading", "download", "loaded",     "save",       "saved", "saving",
      "init",        "setup",   "warmup",   "checkpoint", "validation", "eval",  "evaluation",
      "compilation", "server",  "attempt",  "job",        "script"};
  constexpr std::string_view kOtherwise[] = {"error",   "errors",  "fail",  "failed",
                                             "failure", "not",     "no",    "aborted",
                                             "wait",    "waiting", "until", "before"};
  if (text.size() > kLongest) return false;
  bool closes = false;
  for (size_t at = 0; at < text.size();) {
    std::string word;
    for (; at < text.size() && IsAlphabetic(text[at]); ++at) word += LowerCase(text[at]);
    ++at;
    if (word.empty() || word.size() > kLongestWord) continue;
    const std::string_view known = word;
    if (std::ranges::find(kOfAPart, known) != std::end(kOfAPart) ||
        std::ranges::find(kOtherwise, known) != std::end(kOtherwise))
      return false;
    closes |= std::ranges::find(kClosing, known) != std::end(kClosing);
  }
  return closes;
}

bool SaysFailure(std::string_view text) {
  constexpr std::string_view kWords[] = {"exit",      "abort",    "fatal", "fail",  "error",
                                         "exception", "crash",    "stopp", "quit",  "giving",
                                         "shutt",     "terminat", "kill",  "cannot"};
  constexpr std::string_view kNone[] = {"=0", ": 0", " 0", ":0"};
  std::string small(text);
  std::ranges::transform(small, small.begin(), LowerCase);
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    const size_t at = small.find(word);
    if (at == std::string::npos) return false;
    const std::string_view behind = std::string_view(small).substr(
        std::min(small.find_first_not_of("abcdefghijklmnopqrstuvwxyz", at), small.size()));
    const bool none = BeginsWithAny(behind, kNone) &&
                      (behind.size() < 4 || !IsDigit(behind[behind.find('0') + 1]));
    return !none && !small.substr(0, at).ends_with(" 0 ");
  });
}

bool IsLastError(std::string_view text) {
  if (Trimmed(text).ends_with(':') || IsMeasured(text)) return false;  // says nothing of it
  constexpr std::string_view kLevels[] = {
      "Error: ",     "ERROR: ", "FATAL: ",       "[ERROR] ",  "[FATAL] ",
      "[CRITICAL] ", "fatal: ", "Fatal error: ", "CRITICAL: "};
  if (BeginsWithAny(text, kLevels)) return true;
  const size_t end = text.find(": ");
  const std::string_view name = text.substr(0, end);
  return end != std::string_view::npos && LooksLikeException(text) &&
         (name.ends_with("Error") || name.ends_with("Exception"));
}

bool IsEndOfTests(std::string_view text) {
  return text == "OK" || (text.starts_with("OK (") && text.ends_with(')'));
}

std::string_view WithoutBars(std::string_view text) {
  if (!text.starts_with(' ')) return text;
  size_t bar = text.find_first_not_of(' ');
  if (bar == std::string_view::npos || text[bar] != '|') return text;
  std::string_view rest = text.substr(bar + 1);
  return rest.substr(rest.starts_with(' ') ? 1 : 0);
}

bool IsAbortText(std::string_view text) {
  constexpr std::string_view kBegins[] = {"free(): ",
                                          "double free or corruption",
                                          "malloc(): ",
                                          "malloc_consolidate(): ",
                                          "realloc(): ",
                                          "munmap_chunk(): ",
                                          "corrupted size vs. prev_size",
                                          "corrupted double-linked list",
                                          "*** stack smashing detected",
                                          "*** buffer overflow detected",
                                          "Fatal glibc error: ",
                                          "libgomp: Thread creation failed",
                                          "OMP: Error #",
                                          "*** An error occurred in MPI_"};
  if (BeginsWithAny(text, kBegins)) return true;
  // "ERROR: Unexpected bus error encountered in worker. ...", of a data loader.
  if (Contains(text, "ERROR: Unexpected ") && Contains(text, " encountered in worker."))
    return true;
  // F0000 00:00:17.6 123 gpu_device.cc:99] Check failed: ptr != nullptr
  if (Contains(text, "] Check failed: ") || Contains(text, "] Non-OK-status: ")) return true;
  // Runtimes of AMD and Apple; a progress bar may stand in front.
  constexpr std::string_view kOfDevices[] = {"Memory access fault by GPU node-",
                                             "HW Exception by GPU node-", ": failed assertion `",
                                             ": guarantee(false && \""};
  if (ContainsAny(text, kOfDevices)) return true;
  // python: loader.cc:42: void Loader::next(): Assertion `n > 0' failed.
  return Contains(text, ": Assertion `") && text.ends_with("' failed.");
}

bool IsLineOfContainerLog(std::string_view text) {
  // slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file
  constexpr std::string_view kLog = ": error: pyxis:     ", kEnd = ": error: pyxis: couldn't start";
  const size_t at = text.find(kLog);
  if (!text.starts_with("slurmstepd")) return false;
  const bool says = at != std::string_view::npos && !Contains(text, "[INFO]");
  return says || Contains(text, kEnd);
}

bool IsNoStartOfTool(std::string_view text) {
  // pdsh@head: worker-2: ssh exited with exit code 255
  return text.ends_with(": ssh exited with exit code 255") || text.starts_with(kEndOfHydra);
}

bool IsNoStart(std::string_view text) {
  constexpr std::string_view kArguments[] = {
      ": error: unrecognized arguments: ", ": error: the following arguments are required: ",
      ": error: argument ", ": error: invalid choice: ", ": error: one of the arguments "};
  constexpr std::string_view kOfPrograms[] = {
      ": can't open file ", ": No module named ", "' not found (required by ",
      ": error while loading shared libraries: ", ": symbol lookup error: "};
  std::string_view program = ProgramOf(text);
  bool of_python = program.ends_with(".py") || StartsJobs(program);
  if (of_python && !Contains(program, " ")) {
    for (std::string_view part : kArguments) {
      if (text.substr(text.find(": ")).starts_with(part)) return true;
    }
    for (std::string_view part : kOfPrograms) {
      if (Contains(text, part) && !program.ends_with(".py")) return true;
    }
  }
  // slurmstepd: error: execve(): torchrun: No such file or directory
  return text.starts_with("slurmstepd: error: execve(): ") || IsLauncherMissing(text) ||
         IsContainerRefused(text) || IsMpiRefused(text) || IsLineOfContainerLog(text);
}

int32_t RankOfBlock(std::string_view text) {
  return Contains(text, "Begin global rank ") ? SmallNumberAfter(text, "global rank ") : kNone32;
}

}  // namespace debrief::inputs::job_text
