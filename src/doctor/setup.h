// How a job is started, as far as debrief doctor can see it: variables, launcher, options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace debrief::doctor {

struct Setting {
  std::string value;  // with the variables of the script in it replaced, where they are known
  std::string where;  // "line 12", "environment", "command"
  bool is_exported = true;
};

struct TorchVersion {
  int major = 0, minor = 0;
  auto operator<=>(const TorchVersion&) const = default;
};
// "2.6", "2.6.0", "v2.6.0+cu124".
std::optional<TorchVersion> ParseTorchVersion(std::string_view text);

// Who starts the processes of the job.
enum class Launcher : uint8_t {
  kUnknown,
  kPython,  // nobody: one process
  kTorchrun,
  kAccelerate,
  kDeepspeed,
  kSrun,
  kMpirun,
};
std::string_view LauncherName(Launcher launcher);

struct Setup {
  std::string name;  // of the script or the job; empty: the environment
  std::map<std::string, Setting, std::less<>> variables;
  Launcher launcher = Launcher::kUnknown;
  // Options of programs by "program option" in one spelling: "torchrun log-dir", "srun export",
  // "sbatch output", "program timeout". A flag without a value has "".
  std::map<std::string, Setting, std::less<>> options;
  std::vector<Setting> thrown_away;  // redirections to /dev/null
  std::optional<Setting> core_limit;
  std::optional<TorchVersion> torch;
  bool is_sbatch = false;

  const Setting* Variable(std::string_view variable) const {
    const auto found = variables.find(variable);
    return found == variables.end() ? nullptr : &found->second;
  }
  const Setting* Option(std::string_view option) const {
    const auto found = options.find(option);
    return found == options.end() ? nullptr : &found->second;
  }
  // False only when it is certain that one process makes the whole job.
  bool MayBeDistributed() const { return launcher != Launcher::kPython; }
  // False only when it is certain that one machine has the whole job.
  bool MayHaveNodes() const;
};

// A shell script, for sbatch or not: assignments, exports, #SBATCH lines, launchers.
void ReadScript(std::string_view text, Setup& setup);

// The words of one command, as a shell gave them.
void ReadCommand(const std::vector<std::string>& words, const std::string& where, Setup& setup);

}  // namespace debrief::doctor
