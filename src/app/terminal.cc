#include "app/terminal.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/text/newlines.h"
#include "base/text/progress_line.h"
#include "base/text/safe_name.h"
#include "base/text/strings.h"
#include "base/text/utf8.h"
#include "tables/input.h"

namespace debrief {

namespace {

int WidthOf(int terminal, int otherwise) {
  winsize size;
  bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

// One line that is written over. It comes ten times a second at most and not before a tenth of a
// second has passed, so that short work shows nothing; it is written at once and only its end is
// cleared, so that it does not flicker.
class BarProgress final : public Progress {
 public:
  using Progress::Begin;
  ~BarProgress() override { Clear(); }

  void Begin(std::string_view stage, uint64_t total, ProgressUnit unit) override {
    std::lock_guard lock(mutex_);
    stage_ = stage;
    state_ = {.stage = stage_, .unit = unit, .total = total};
    begun_ = Now::clock::now();
  }

  void Step(uint64_t done) override {
    std::lock_guard lock(mutex_);
    Now now = Now::clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    shown_ = true;
    state_.done = std::max(state_.done, done);  // threads overtake each other
    state_.elapsed_ns = std::chrono::nanoseconds(now - begun_).count();
    // The last column stays free: some terminals wrap when it is written.
    std::string line = ProgressLine(state_, std::min(WidthOf(STDERR_FILENO, 80), 120) - 1);
    std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
  }

  void End() override {
    std::lock_guard lock(mutex_);
    Clear();
  }

 private:
  using Now = std::chrono::steady_clock::time_point;

  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

  std::mutex mutex_;
  std::string stage_;
  ProgressState state_;
  bool shown_ = false;
  Now begun_;
  Now last_ = Now::clock::now();
};

// Piece by piece: an answer may be as large as memory.
void PrintFiltered(std::string_view text, bool has_colours, std::FILE* to) {
  constexpr size_t kPiece = 1 << 20;
  while (!text.empty()) {
    const size_t bytes = std::max<size_t>(CutBytes(text, kPiece).size(), 1);
    const std::string shown = PrintableLines(text.substr(0, bytes), has_colours);
    std::fwrite(shown.data(), 1, shown.size(), to);
    text.remove_prefix(bytes);
  }
}

bool IsDumbTerminal() { return Environment("TERM") == "dumb" || Environment("TERM").empty(); }

bool EndsSentence(std::string_view text) {
  return text.ends_with('.') || text.ends_with('?') || text.ends_with('!');
}

std::string_view PathOf(const Model& model, int32_t input) {
  if (input == kNone32) return "(all)";
  return model.pools.Text(model.tables.Get<InputTable>().path[static_cast<size_t>(input)]);
}

}  // namespace

StdoutSink::~StdoutSink() { std::fflush(stdout); }

StdoutSink::StdoutSink() : has_colours_(WantsColour()) {}

void StdoutSink::Write(std::string_view text) { PrintFiltered(text, has_colours_, stdout); }

void StderrSink::Write(std::string_view text) { PrintNotes(text); }

int CheckStdout(int code) {
  errno = 0;
  const bool is_whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_whole) return code;
  const int error = errno;
  pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  const bool has_gone = poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0;
  if (has_gone) return code;
  PrintError(Status(
      Code::kIo, fmt::format("cannot write all of the answer to stdout{}{}", error == 0 ? "" : ": ",
                             error == 0 ? "" : std::strerror(error))));
  return code == 0 ? 1 : code;
}

int64_t SystemClock::NowNs() const {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::unique_ptr<Progress> MakeProgress(bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0 || IsDumbTerminal())
    return std::make_unique<NoProgress>();
  return std::make_unique<BarProgress>();
}

StatusLine::StatusLine(bool quiet)
    : is_wanted_(!quiet && isatty(STDERR_FILENO) != 0 && !IsDumbTerminal()) {}

void StatusLine::Show(std::string_view text) {
  if (!is_wanted_ || text == shown_) return;
  const auto width = static_cast<size_t>(WidthOf(STDERR_FILENO, 80) - 1);
  std::fputs(fmt::format("\r{}\x1b[K", Printable(text.substr(0, width))).c_str(), stderr);
  shown_ = text;
}

void StatusLine::Clear() {
  if (!shown_.empty()) std::fputs("\r\x1b[K", stderr);
  shown_.clear();
}

bool WantsColour() {
  return isatty(STDOUT_FILENO) != 0 && !IsDumbTerminal() && Environment("NO_COLOR").empty();
}

int TerminalWidth() {
  std::string columns = Environment("COLUMNS");
  int width = columns.empty() ? WidthOf(STDOUT_FILENO, 100) : std::atoi(columns.c_str());
  return std::clamp(width, 40, 200);
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void PrintError(const Status& status) {
  std::string text = fmt::format("debrief: {}", status.message());
  if (std::string where = ToString(status.place()); !where.empty())
    text += fmt::format(" ({})", where);
  // Below a drawing of the place in a statement, the remedy has a line of its own.
  const bool has_lines = Contains(text, "\n");
  if (!status.remedy().empty())
    text += fmt::format("{}{}",
                        has_lines            ? "\n"
                        : EndsSentence(text) ? " "
                                             : ". ",
                        status.remedy());
  if (status.remedy().empty() && !has_lines && !EndsSentence(text)) text += ".";
  LineSplitter lines(text);
  for (std::string_view line; lines.Next(line);) PrintNote(line);
}

int Fail(const Status& status) {
  PrintError(status);
  return status.code() == Code::kUsage ? 2 : 1;
}

void PrintNote(std::string_view text) { std::fputs((Printable(text) + "\n").c_str(), stderr); }

void PrintNotes(std::string_view lines) { PrintFiltered(lines, false, stderr); }

void PrintTrouble(const Model& model) {
  for (const Diagnostic& each : model.diagnostics.all()) {
    if (each.kind->severity == Severity::kInfo) continue;
    const int64_t offset = each.first.empty() ? -1 : each.first[0].offset;
    std::string where = each.count > 1 ? fmt::format("{} x", each.count) : "";
    if (offset >= 0)
      where += fmt::format("{}byte {}", where.empty() ? "" : ", the first at ", offset);
    PrintNote(fmt::format("debrief: {}: {}: {}{}. {}", SeverityName(each.kind->severity),
                          PathOf(model, each.input), each.kind->meaning,
                          where.empty() ? "" : fmt::format(" ({})", where), each.kind->remedy));
  }
}

}  // namespace debrief
