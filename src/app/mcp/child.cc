#include "app/mcp/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace debrief {

namespace {

constexpr size_t kMaxAnswerBytes = 64 << 20;
// The first byte of an answer.
constexpr char kGood = 'G', kBad = 'B';

void WriteWhole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// All of a file from its beginning; it is empty afterwards.
std::string TakeAll(int file) {
  std::string text;
  std::array<char, 1 << 16> piece;
  ssize_t got = 0;
  while (text.size() < kMaxAnswerBytes &&
         (got = pread(file, piece.data(), piece.size(), static_cast<off_t>(text.size()))) > 0)
    text.append(piece.data(), static_cast<size_t>(got));
  if (ftruncate(file, 0) == 0) lseek(file, 0, SEEK_SET);
  return text;
}

void PrepareChild() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  dup2(nothing.get(), STDIN_FILENO);
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    const UniqueFd file(memfd_create("debrief", MFD_CLOEXEC));
    if (file.valid()) dup2(file.get(), standard);
  }
}

[[noreturn]] void RunChild(int pipe, const std::function<mcp::Outcome()>& work) {
  PrepareChild();
  const mcp::Outcome outcome = work();
  const bool is_good = outcome.error.empty();
  WriteWhole(pipe, (is_good ? kGood : kBad) + (is_good ? outcome.json : outcome.error));
  _exit(0);
}

}  // namespace

Captured Capture(const std::function<int()>& command) {
  Captured captured;
  captured.code = command();
  std::fflush(stdout);
  std::fflush(stderr);
  captured.out = TakeAll(STDOUT_FILENO);
  captured.error = TakeAll(STDERR_FILENO);
  return captured;
}

Result<Child> Child::Start(const std::function<mcp::Outcome()>& work) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Status(Code::kLimit, std::string("cannot make a pipe: ") + std::strerror(errno));
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const pid_t process = fork();
  if (process < 0)
    return Status(Code::kLimit, std::string("cannot start a process: ") + std::strerror(errno));
  if (process == 0) RunChild(theirs.get(), work);
  return Child(std::move(ours), process);
}

Child::Child(Child&& other) noexcept
    : pipe_(std::move(other.pipe_)),
      process_(std::exchange(other.process_, -1)),
      answer_(std::move(other.answer_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pipe_, other.pipe_);
  std::swap(process_, other.process_);
  std::swap(answer_, other.answer_);
  return *this;
}

bool Child::Read() {
  std::array<char, 1 << 16> piece;
  const ssize_t got = read(pipe_.get(), piece.data(), piece.size());
  if (got < 0 && errno == EINTR) return false;
  if (got <= 0) return true;
  answer_.append(piece.data(), static_cast<size_t>(got));
  return answer_.size() > kMaxAnswerBytes;
}

int Child::Wait() {
  int state = 0;
  while (waitpid(process_, &state, 0) < 0 && errno == EINTR) continue;
  process_ = -1;
  return state;
}

void Child::End() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  Wait();
}

mcp::Outcome Child::Finish() {
  if (answer_.size() > kMaxAnswerBytes) {
    End();
    return {.json = {}, .error = "the answer is larger than 64 MiB. Ask for less."};
  }
  const int state = Wait();
  if (!answer_.empty() && answer_.front() == kGood) return {.json = answer_.substr(1), .error = {}};
  if (!answer_.empty()) return {.json = {}, .error = answer_.substr(1)};
  if (WIFSIGNALED(state))
    return {.json = {}, .error = fmt::format("the work ended by signal {}", WTERMSIG(state))};
  return {.json = {}, .error = "the work ended without an answer: it may have run out of memory"};
}

}  // namespace debrief
