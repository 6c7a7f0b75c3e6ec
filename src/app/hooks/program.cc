#include "app/hooks/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

std::string VariableOf(std::string_view name) {
  std::string variable = "DEBRIEF_";
  for (char c : name) variable += UpperCase(c);
  return variable;
}

// The name in "{name}" at the start of `text`; empty when it is none. Braces of the shell (${x},
// {1..3}) are not names.
std::string_view PlaceAt(std::string_view text) {
  if (!text.starts_with('{')) return {};
  const size_t close = text.find('}');
  if (close == std::string_view::npos || close < 2) return {};
  const std::string_view name = text.substr(1, close - 1);
  const bool is_name = std::ranges::all_of(name, IsLower);
  return is_name ? name : std::string_view();
}

// In the child: sees `values`, prints to stderr, and becomes the shell.
[[noreturn]] void BecomeShell(const std::string& command, const HookValues& values, int input) {
  for (const auto& [name, value] : values) setenv(VariableOf(name).c_str(), value.c_str(), 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  if (input >= 0) dup2(input, STDIN_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(127);
}

Status WaitFor(pid_t process, std::string_view command) {
  int state = 0;
  while (waitpid(process, &state, 0) < 0) {
    if (errno != EINTR) return {Code::kIo, "cannot wait for the program of a hook"};
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return {};
  return {Code::kIo, WIFEXITED(state)
                         ? fmt::format("`{}` ended with exit code {}", command, WEXITSTATUS(state))
                         : fmt::format("`{}` was ended by signal {}", command, WTERMSIG(state))};
}

Status CannotFork() { return {Code::kLimit, "cannot start a process for the program of a hook"}; }

bool WriteWhole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::string> FillHook(std::string_view command, const HookValues& values) {
  std::string filled;
  char quote = 0;  // that is open
  for (std::string_view rest = command; !rest.empty();) {
    const char c = rest[0];
    const bool is_variable = !filled.empty() && filled.back() == '$';
    const std::string_view name = is_variable ? std::string_view() : PlaceAt(rest);
    if (!name.empty()) {
      if (!values.contains(std::string(name)))
        return Status(Code::kUsage, fmt::format("`{}`: there is no {{{}}}", command, name));
      if (quote != 0) {
        return Status(Code::kUsage, fmt::format("`{}`: {{{}}} stands inside quotes", command, name))
            .Remedy("Take the quotes away: debrief quotes it");
      }
      filled += fmt::format("\"${{{}}}\"", VariableOf(name));
      rest.remove_prefix(name.size() + 2);
      continue;
    }
    const size_t taken = c == '\\' && quote != '\'' && rest.size() > 1 ? 2 : 1;
    if (taken == 1 && (c == quote || (quote == 0 && (c == '"' || c == '\''))))
      quote = quote == 0 ? c : 0;
    filled += rest.substr(0, taken);
    rest.remove_prefix(taken);
  }
  return filled;
}

Status RunHook(std::string_view command, const HookValues& values, int input) {
  ASSIGN_OR_RETURN(const std::string filled, FillHook(command, values));
  const pid_t process = fork();
  if (process < 0) return CannotFork();
  if (process == 0) BecomeShell(filled, values, input);
  return WaitFor(process, command);
}

WaitingHook::~WaitingHook() {
  if (process_ < 0) return;
  input_ = UniqueFd();
  (void)WaitFor(process_, {});
}

Status WaitingHook::Prepare(std::string_view command, const HookValues& values) {
  ASSIGN_OR_RETURN(const std::string filled, FillHook(command, values));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return CannotFork();
  const UniqueFd output(ends[0]);
  input_ = UniqueFd(ends[1]);
  process_ = fork();
  if (process_ < 0) return CannotFork();
  if (process_ > 0) return {};
  input_ = UniqueFd();
  char begin = 0;  // the first byte says that an input comes
  if (read(output.get(), &begin, 1) != 1) _exit(0);
  BecomeShell(filled, values, output.get());
}

Status WaitingHook::Run(std::string_view input) {
  if (!is_prepared()) return {};
  // A program that does not read to the end is free not to: its exit code says what it thinks.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  if (WriteWhole(input_.get(), "+")) (void)WriteWhole(input_.get(), input);
  input_ = UniqueFd();
  std::signal(SIGPIPE, before);
  return WaitFor(std::exchange(process_, -1), "the program of --post-run");
}

}  // namespace debrief
