#include "app/hooks/hook_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "app/hooks/program.h"
#include "app/terminal.h"

namespace debrief {

namespace {

// Texts travel with a zero behind each: paths and headlines have none.
std::optional<std::string> TakeText(int from) {
  std::string text;
  for (char c = 0; read(from, &c, 1) == 1;) {
    if (c == '\0') return text;
    text += c;
  }
  return std::nullopt;
}

// In the process: until nobody can ask any more.
[[noreturn]] void ServeHooks(int requests, const std::string& command, const std::string& out) {
  while (true) {
    const auto findings = TakeText(requests);
    const auto headline = findings ? TakeText(requests) : std::nullopt;
    if (!headline) _exit(0);
    const UniqueFd input(open(findings->c_str(), O_RDONLY | O_CLOEXEC));
    const Status ran = RunHook(
        command, {{"findings", *findings}, {"out", out}, {"headline", *headline}}, input.get());
    if (!ran.ok()) PrintError(ran);
  }
}

}  // namespace

Status HookProcess::Start(std::string_view command, const std::string& out) {
  TRY(FillHook(command, {{"findings", ""}, {"out", ""}, {"headline", ""}}).status());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {Code::kLimit, "cannot start a process for --on-finding"};
  const UniqueFd requests(ends[0]);
  requests_ = UniqueFd(ends[1]);
  process_ = fork();
  if (process_ < 0) return {Code::kLimit, "cannot start a process for --on-finding"};
  if (process_ > 0) return {};
  requests_ = UniqueFd();
  // Ctrl+C is for who watches: this ends when nobody can ask any more.
  std::signal(SIGINT, SIG_IGN);
  ServeHooks(requests.get(), std::string(command), out);
}

void HookProcess::Run(const std::string& findings, const std::string& headline) {
  if (!is_started()) return;
  std::string message = findings + '\0' + headline + '\0';
  for (std::string_view rest = message; !rest.empty();) {
    const ssize_t written = write(requests_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // it is gone, and said why
    rest.remove_prefix(static_cast<size_t>(written));
  }
}

HookProcess::~HookProcess() {
  if (process_ < 0) return;
  requests_ = UniqueFd();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace debrief
