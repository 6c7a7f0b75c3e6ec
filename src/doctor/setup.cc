#include "doctor/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/newlines.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "doctor/shell_words.h"

namespace debrief::doctor {

namespace {

constexpr int kMaxNesting = 3;  // bash -c "bash -c ..."

bool IsVariableName(std::string_view name) {
  return !name.empty() && !IsDigit(name.front()) && std::ranges::all_of(name, IsWord);
}

// "A=B" -> A and B.
std::optional<std::pair<std::string, std::string>> Assignment(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos || !IsVariableName(word.substr(0, equals)))
    return std::nullopt;
  return std::pair(std::string(word.substr(0, equals)), std::string(word.substr(equals + 1)));
}

// "--log_dir=x" -> log-dir; options have the long form, whatever was written.
std::string OptionName(std::string_view program, std::string_view word) {
  struct Short {
    std::string_view program, letter, name;
  };
  static constexpr Short kShort[] = {
      {"torchrun", "-r", "redirects"}, {"torchrun", "-t", "tee"},  {"srun", "-o", "output"},
      {"srun", "-e", "error"},         {"srun", "-n", "ntasks"},   {"srun", "-N", "nodes"},
      {"srun", "-l", "label"},         {"sbatch", "-o", "output"}, {"sbatch", "-e", "error"},
      {"sbatch", "-n", "ntasks"},      {"sbatch", "-N", "nodes"},  {"mpirun", "-n", "np"},
      {"mpirun", "-c", "np"},
  };
  const std::string_view name = word.substr(0, word.find('='));
  for (const Short& one : kShort) {
    if (one.program == program && one.letter == name) return std::string(one.name);
  }
  std::string text(name.substr(std::min(name.find_first_not_of('-'), name.size())));
  std::ranges::replace(text, '_', '-');
  return text;
}

// Options of these take no word behind them.
bool IsFlag(std::string_view name) {
  static constexpr std::string_view kFlags[] = {
      "standalone",       "label",     "no-python",  "exclusive",         "u",
      "unbuffered",       "multi-gpu", "tag-output", "allow-run-as-root", "no-kill",
      "kill-on-bad-exit", "use-env",   "run-path"};
  return std::ranges::find(kFlags, name) != std::end(kFlags);
}

// What a word starts, as options are filed under it; empty: nothing that is known.
std::string_view ProgramOf(std::string_view word) {
  const std::string_view name = FileName(word);
  struct Known {
    std::string_view name, program;
  };
  static constexpr Known kPrograms[] = {
      {"torchrun", "torchrun"},
      {"accelerate", "accelerate"},
      {"deepspeed", "deepspeed"},
      {"srun", "srun"},
      {"sbatch", "sbatch"},
      {"mpirun", "mpirun"},
      {"mpiexec", "mpirun"},
      {"orterun", "mpirun"},
      {"env", "env"},
      {"docker", "container"},
      {"podman", "container"},
      {"apptainer", "container"},
      {"singularity", "container"},
  };
  for (const Known& known : kPrograms)
    if (name == known.name) return known.program;
  return name.starts_with("python") ? "python" : "";
}

Launcher LauncherOf(std::string_view program) {
  if (program == "torchrun") return Launcher::kTorchrun;
  if (program == "accelerate") return Launcher::kAccelerate;
  if (program == "deepspeed") return Launcher::kDeepspeed;
  if (program == "mpirun") return Launcher::kMpirun;
  return program == "python" ? Launcher::kPython : Launcher::kUnknown;
}

// One command after the other; what an earlier one set is known to the later ones.
class SetupReader {
 public:
  explicit SetupReader(Setup& setup) : setup_(setup) {}

  void Command(const std::vector<std::string>& words, const std::string& where, int nesting = 0) {
    where_ = where;
    size_t first = 0;
    while (first < words.size() && IsKeyword(words[first])) ++first;
    if (first == words.size()) return;
    const std::string_view name = words[first];
    const std::vector<std::string> rest(words.begin() + static_cast<ptrdiff_t>(first) + 1,
                                        words.end());
    if (name == "export" || name == "declare" || name == "typeset") return Export(rest);
    if (name == "unset") return Unset(rest);
    if (name == "ulimit") return CoreLimit(rest);
    size_t begin = first;
    while (begin < words.size() && Assignment(words[begin])) ++begin;
    // Without a command behind them they are variables of the shell alone.
    for (size_t i = first; i < begin; ++i) Set(words[i], begin < words.size());
    Programs(std::vector(words.begin() + static_cast<ptrdiff_t>(begin), words.end()), nesting);
  }

  void Sbatch(std::string_view line, const std::string& where) {
    setup_.is_sbatch = true;
    where_ = where;
    for (const ShellCommand& command : SplitScript(line)) {
      std::vector<std::string> words = {"sbatch"};
      words.insert(words.end(), command.words.begin(), command.words.end());
      Programs(words, kMaxNesting);
    }
  }

 private:
  static bool IsKeyword(std::string_view word) {
    static constexpr std::string_view kWords[] = {"if",   "then",  "else", "do", "time",
                                                  "exec", "!",     "{",    "(",  "nohup",
                                                  "sudo", "while", "elif"};
    return std::ranges::find(kWords, word) != std::end(kWords);
  }

  // $NAME and ${NAME} of variables that the script set itself; ${NAME:-text} is text where it did
  // not.
  std::string Expand(std::string_view text) const {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const bool is_braced = text.substr(at).starts_with("${");
      if (text[at] != '$' || (!is_braced && !IsNameAt(text, at + 1))) {
        out += text[at++];
        continue;
      }
      size_t end = at + (is_braced ? 2 : 1);
      const size_t begin = end;
      while (IsNameAt(text, end) || (end > begin && end < text.size() && IsDigit(text[end]))) ++end;
      const std::string_view name = text.substr(begin, end - begin);
      const size_t close = is_braced ? text.find('}', end) : end;
      if (close == std::string_view::npos) return out + std::string(text.substr(at));
      const size_t after = is_braced ? close + 1 : end;
      std::string_view otherwise = text.substr(end, close - end);
      const Setting* known = setup_.Variable(name);
      if (known != nullptr) {
        out += known->value;
      } else if (otherwise.starts_with(":-")) {
        out += otherwise.substr(2);
      } else {
        out += text.substr(at, after - at);
      }
      at = after;
      if (out.size() > 4096) return out.substr(0, 4096);
    }
    return out;
  }

  static bool IsNameAt(std::string_view text, size_t at) {
    return at < text.size() && IsVariableName(text.substr(at, 1));
  }

  void Set(const std::string& word, bool is_exported) {
    auto pair = Assignment(word);
    if (!pair) return;
    const bool was_exported =
        setup_.Variable(pair->first) != nullptr && setup_.Variable(pair->first)->is_exported;
    setup_.variables[pair->first] = {Expand(pair->second), where_, is_exported || was_exported};
  }

  void Export(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      Set(word, true);
      if (const auto known = setup_.variables.find(word); known != setup_.variables.end())
        known->second.is_exported = true;
    }
  }

  void Unset(const std::vector<std::string>& words) {
    for (const std::string& word : words) setup_.variables.erase(word);
  }

  void CoreLimit(const std::vector<std::string>& words) {
    for (size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i].starts_with("-") && words[i].ends_with("c"))
        setup_.core_limit = Setting{words[i + 1], where_};
    }
  }

  void ReadTorch(std::string_view word) {
    for (const std::string_view mark : {"torch==", "pytorch=", "pytorch:", "pytorch/", "torch-"}) {
      const size_t at = word.find(mark);
      if (at == std::string_view::npos || setup_.torch) continue;
      setup_.torch = ParseTorchVersion(word.substr(at + mark.size()));
    }
  }

  // Walks through the programs of a command, each started by the one before it.
  void Programs(const std::vector<std::string>& words, int nesting) {
    std::string program;
    for (size_t i = 0; i < words.size(); ++i) Redirection(words, i);
    for (size_t i = 0; i < words.size(); ++i) {
      const std::string& word = words[i];
      ReadTorch(word);
      if (word == "-c" && nesting < kMaxNesting && i + 1 < words.size() && IsShell(words, i)) {
        for (const ShellCommand& inner : SplitScript(words[i + 1]))
          Command(inner.words, where_, nesting + 1);
        return;
      }
      if (const std::string_view launcher = ModuleAt(words, i, program); !launcher.empty()) {
        program = launcher;
        Found(program);
        ++i;
      } else if (word.starts_with('-') && !program.empty()) {
        i += Option(program, words, i) ? 1 : 0;
      } else if (!ProgramOf(word).empty() && program != "program") {
        program = ProgramOf(word);
        Found(program);
      } else if (program == "env" && Assignment(word)) {
        Set(word, true);
      } else if (word.ends_with(".py")) {
        program = "program";
      }
    }
  }

  static bool IsShell(const std::vector<std::string>& words, size_t i) {
    const std::string_view before = i == 0 ? std::string_view() : FileName(words[i - 1]);
    return before == "bash" || before == "sh" || before == "zsh" || before == "-l";
  }

  // The launcher that "python -m MODULE" is; empty: another module.
  static std::string_view ModuleAt(const std::vector<std::string>& words, size_t i,
                                   std::string_view program) {
    if (program != "python" || words[i] != "-m" || i + 1 == words.size()) return "";
    const std::string_view module = words[i + 1];
    if (module == "torch.distributed.run" || module == "torch.distributed.launch")
      return "torchrun";
    if (module.starts_with("accelerate")) return "accelerate";
    return module.starts_with("deepspeed") ? "deepspeed" : "";
  }

  // The innermost launcher starts the processes; python under srun or mpirun is one of many.
  void Found(std::string_view program) {
    const Launcher found = program == "srun" ? Launcher::kSrun : LauncherOf(program);
    if (found == Launcher::kUnknown) return;
    if (found == Launcher::kPython && setup_.launcher != Launcher::kUnknown) return;
    setup_.launcher = found;
  }

  void Redirection(const std::vector<std::string>& words, size_t i) {
    const std::string& word = words[i];
    const size_t mark = word.find('>');
    if (mark == std::string::npos || mark > 2) return;
    const std::string target =
        word.ends_with('>') && i + 1 < words.size()
            ? words[i + 1]
            : word.substr(word.find_first_not_of('>', mark) == std::string::npos
                              ? word.size()
                              : word.find_first_not_of('>', mark));
    if (target == "/dev/null")
      setup_.thrown_away.push_back({word.starts_with('2') ? "stderr" : "stdout", where_});
  }

  // True when the word behind it is its value.
  bool Option(const std::string& program, const std::vector<std::string>& words, size_t i) {
    const std::string& word = words[i];
    const bool is_joined = word.size() > 2 && word[1] != '-' && IsDigit(word[2]);  // -N2
    const std::string name = OptionName(program, is_joined ? word.substr(0, 2) : word);
    const size_t equals = is_joined ? 1 : word.find('=');
    const bool takes_next = equals == std::string::npos && !IsFlag(name) && i + 1 < words.size() &&
                            IsValue(words[i + 1]);
    const std::string value = equals != std::string::npos ? word.substr(equals + 1)
                              : takes_next                ? words[i + 1]
                                                          : "";
    if (IsEnvironmentOption(program, name)) {
      Set(value, true);
      return takes_next;
    }
    if (name == "export" && (program == "srun" || program == "sbatch")) SetExports(value);
    setup_.options[program + " " + name] = {Expand(value), where_};
    return takes_next && (program != "python" || name == "m");
  }

  // Of an option; another option, a redirection and the next program are none.
  static bool IsValue(const std::string& word) {
    return !word.starts_with('-') && word.find('>') == std::string::npos && ProgramOf(word).empty();
  }

  // mpirun -x A=B, docker run -e A=B, apptainer exec --env A=B.
  static bool IsEnvironmentOption(std::string_view program, std::string_view name) {
    return (program == "mpirun" && (name == "x" || name == "genv")) ||
           (program == "container" && (name == "e" || name == "env"));
  }

  // --export=ALL,A=B
  void SetExports(std::string_view list) {
    while (!list.empty()) {
      const size_t end = std::min(list.find(','), list.size());
      Set(std::string(list.substr(0, end)), true);
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }

  Setup& setup_;
  std::string where_;
};

}  // namespace

std::optional<TorchVersion> ParseTorchVersion(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  size_t end = dot + 1;
  while (end < text.size() && IsDigit(text[end])) ++end;
  const auto major = ParseNumber<int>(text.substr(0, dot));
  const auto minor = ParseNumber<int>(text.substr(dot + 1, end - dot - 1));
  if (!major || !minor || *major < 1 || *major > 9) return std::nullopt;
  return TorchVersion{*major, *minor};
}

std::string_view LauncherName(Launcher launcher) {
  static constexpr std::string_view kNames[] = {
      "", "one process", "torchrun", "accelerate", "deepspeed", "srun", "mpirun"};
  return kNames[static_cast<size_t>(launcher)];
}

bool Setup::MayHaveNodes() const {
  if (launcher == Launcher::kPython || Option("torchrun standalone") != nullptr) return false;
  static constexpr std::string_view kCounts[] = {"torchrun nnodes", "sbatch nodes", "srun nodes",
                                                 "accelerate num-machines"};
  bool is_said = false;
  for (const std::string_view count : kCounts) {
    const Setting* said = Option(count);
    if (said != nullptr && said->value != "1" && said->value != "1:1") return true;
    is_said |= said != nullptr;
  }
  return !is_said && launcher != Launcher::kTorchrun;  // torchrun alone means one machine
}

void ReadScript(std::string_view text, Setup& setup) {
  SetupReader reader(setup);
  LineSplitter lines(text);
  int64_t number = 0;
  for (std::string_view line; lines.Next(line);) {
    ++number;
    constexpr std::string_view kMark = "#SBATCH ";
    if (line.starts_with(kMark))
      reader.Sbatch(line.substr(kMark.size()), fmt::format("line {}", number));
  }
  for (const ShellCommand& command : SplitScript(text))
    reader.Command(command.words, fmt::format("line {}", command.line));
}

void ReadCommand(const std::vector<std::string>& words, const std::string& where, Setup& setup) {
  SetupReader(setup).Command(words, where);
}

}  // namespace debrief::doctor
