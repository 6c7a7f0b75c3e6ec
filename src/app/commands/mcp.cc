// debrief mcp [ROOT...]: a Model Context Protocol server on stdin and stdout, for jobs below ROOT.
//
//   client --- lines ---> this process: protocol, one piece of work after the other
//      ^                     | fork
//      '------ lines ------- a process for each piece of work (app/mcp/child.h)
//
// Lines are taken while work is done, so that a client can cancel it.
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <optional>

#include "app/build_model.h"
#include "app/commands/commands.h"
#include "app/interrupts.h"
#include "app/mcp/answers.h"
#include "app/mcp/child.h"
#include "app/mcp/roots.h"
#include "app/terminal.h"
#include "base/paths.h"
#include "mcp/line_reader.h"
#include "mcp/protocol.h"

namespace debrief {

namespace {

constexpr size_t kMostWaiting = 64;  // pieces of work; more lines are not read meanwhile
constexpr size_t kMostReports = 16;  // that are kept open; the oldest is closed

class Session {
 public:
  Session(const Roots& roots, const std::string& folder, const GlobalOptions& global)
      : roots_(roots), global_(global) {
    reports_.folder = folder;
  }

  // Until the client closes its end, or `stop` can be read.
  void Run(int stop) {
    while (!is_gone_ && (!is_closed_ || running_ || !waiting_.empty())) {
      if (!running_ && !waiting_.empty()) Begin();
      const bool is_full = is_closed_ || waiting_.size() >= kMostWaiting;
      pollfd ends[] = {{is_full ? -1 : STDIN_FILENO, POLLIN, 0},
                       {running_ ? running_->child.fd() : -1, POLLIN, 0},
                       {stop, POLLIN, 0},
                       {STDOUT_FILENO, 0, 0}};  // an error: nobody reads any more
      const int ready = poll(ends, std::size(ends), WaitMs());
      if (ready < 0 && errno != EINTR) return;
      if (ends[2].revents != 0 || (ends[3].revents & POLLERR) != 0) return;
      if (ends[1].revents != 0 && running_->child.Read()) Finish(running_->child.Finish());
      if (ends[0].revents != 0) ReadInput();
      GiveUpLate();
    }
    for (const std::string& line : protocol_.Close()) Send(line);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    mcp::Work work;
    Child child;
    Clock::time_point deadline;
  };

  int WaitMs() const {
    if (!running_) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(running_->deadline - Clock::now());
    return static_cast<int>(std::max<int64_t>(left.count(), 0));
  }

  void ReadInput() {
    const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) return;
    std::string_view line, bytes(buffer_.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    while (!bytes.empty()) TakeLine(lines_.Take(bytes, line), line);
    if (got > 0) return;
    is_closed_ = true;
    TakeLine(lines_.TakeRest(line), line);
  }

  void TakeLine(mcp::LineReader::Kind kind, std::string_view line) {
    if (kind == mcp::LineReader::Kind::kTooLong) Send(mcp::Protocol::TooLong());
    if (kind != mcp::LineReader::Kind::kLine) return;
    mcp::Reaction reaction = protocol_.Take(line);
    if (!reaction.answer.empty()) Send(reaction.answer);
    if (reaction.work) waiting_.push_back(std::move(*reaction.work));
    if (reaction.cancelled.empty()) return;
    // Nothing is sent for work that was cancelled.
    std::erase_if(waiting_, [&](const mcp::Work& work) { return work.id == reaction.cancelled; });
    if (running_ && running_->work.id == reaction.cancelled) running_.reset();
  }

  void Begin() {
    mcp::Work work = std::move(waiting_.front());
    waiting_.pop_front();
    reports_.next = fmt::format("r{}", opened_ + 1);
    auto child = Child::Start([&] { return AnswerWork(work, roots_, reports_, global_); });
    if (!child.ok()) {
      Send(mcp::Protocol::Finish(work, {.json = {}, .error = child.status().message()}));
      return;
    }
    const auto deadline = Clock::now() + std::chrono::seconds(SecondsFor(work));
    running_.emplace(Running{std::move(work), std::move(child).value(), deadline});
  }

  void Finish(const mcp::Outcome& outcome) {
    KeepReport();
    Send(mcp::Protocol::Finish(running_->work, outcome));
    running_.reset();
  }

  // A job that was just opened is there for other tools from now on.
  void KeepReport() {
    if (running_->work.tool != "open_job") return;
    std::error_code ignored;
    const std::string made = reports_.folder + "/" + reports_.next;
    if (!std::filesystem::exists(made + "/findings.json", ignored)) return;
    reports_.paths[reports_.next] = running_->work.arguments.Text("path");
    ++opened_;
    if (opened_ <= kMostReports) return;
    const std::string oldest = fmt::format("r{}", opened_ - kMostReports);
    reports_.paths.erase(oldest);
    std::filesystem::remove_all(reports_.folder + "/" + oldest, ignored);
  }

  void GiveUpLate() {
    if (!running_ || Clock::now() < running_->deadline) return;
    running_->child.End();
    Send(mcp::Protocol::Finish(
        running_->work,
        {.json = {},
         .error = fmt::format("it took more than {} s and was given up. Ask for less.",
                              SecondsFor(running_->work))}));
    running_.reset();
  }

  void Send(std::string line) {
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty() && !is_gone_) {
      const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      is_gone_ = written <= 0;
      if (!is_gone_) rest.remove_prefix(static_cast<size_t>(written));
    }
  }

  const Roots& roots_;
  GlobalOptions global_;
  mcp::Protocol protocol_;
  mcp::LineReader lines_{mcp::kMaxMessageBytes};
  std::string buffer_ = std::string(64 << 10, '\0');
  std::deque<mcp::Work> waiting_;
  std::optional<Running> running_;
  OpenReports reports_;
  size_t opened_ = 0;
  bool is_closed_ = false;  // the client sends nothing more
  bool is_gone_ = false;    // the client reads nothing more
};

}  // namespace

int RunMcp(const McpOptions& options, const GlobalOptions& global) {
  signal(SIGPIPE, SIG_IGN);
  auto roots = Roots::Open(options.roots.empty() ? std::vector<std::string>{"."} : options.roots);
  if (!roots.ok()) return Fail(roots.status());
  const ScratchFolder folder(TemporaryFolder() + "/debrief-mcp-");  // of this server alone
  if (folder.path().empty()) {
    return Fail(Status(Code::kIo, fmt::format("cannot make a folder in {}", TemporaryFolder()))
                    .Remedy("Set TMPDIR to a folder that can be written."));
  }
  const UniqueFd stop = StopSignals();
  if (!stop.valid()) return Fail(Status(Code::kIo, "cannot wait for signals"));
  Session(roots.value(), folder.path(), global).Run(stop.get());
  return 0;
}

}  // namespace debrief
