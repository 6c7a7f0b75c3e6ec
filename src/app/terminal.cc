#include "app/terminal.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/safe_name.h"

namespace debrief {

namespace {

// One line that is written over: "import 312/512".
class BarProgress final : public Progress {
 public:
  ~BarProgress() override { Clear(); }

  void Begin(std::string_view stage, uint64_t total) override {
    std::lock_guard lock(mutex_);
    stage_ = stage;
    total_ = total;
    last_ = {};
  }

  void Step(uint64_t done) override {
    std::lock_guard lock(mutex_);
    auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    shown_ = true;
    std::fputs(fmt::format("\r\x1b[K{} {}/{}", stage_, done, total_).c_str(), stderr);
  }

  void End() override {
    std::lock_guard lock(mutex_);
    Clear();
  }

 private:
  void Clear() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
    shown_ = false;
  }

  std::mutex mutex_;
  std::string stage_;
  uint64_t total_ = 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

bool IsDumbTerminal() { return Environment("TERM") == "dumb" || Environment("TERM").empty(); }

}  // namespace

StdoutSink::~StdoutSink() { std::fflush(stdout); }

void StdoutSink::Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int64_t SystemClock::NowNs() const {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

std::unique_ptr<Progress> MakeProgress(bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0 || IsDumbTerminal())
    return std::make_unique<NoProgress>();
  return std::make_unique<BarProgress>();
}

bool WantsColour() {
  return isatty(STDOUT_FILENO) != 0 && !IsDumbTerminal() && Environment("NO_COLOR").empty();
}

int TerminalWidth() {
  int width = 100;
  winsize size;
  if (std::string columns = Environment("COLUMNS"); !columns.empty()) {
    width = std::atoi(columns.c_str());
  } else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width = size.ws_col;
  }
  return std::clamp(width, 40, 200);
}

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void PrintError(const Status& status) { PrintNote(fmt::format("debrief: {}", status.ToString())); }

void PrintNote(std::string_view text) { std::fputs((Printable(text) + "\n").c_str(), stderr); }

void OpenInBrowser(const std::string& page) {
  bool has_display = !Environment("DISPLAY").empty() || !Environment("WAYLAND_DISPLAY").empty();
  if (isatty(STDOUT_FILENO) == 0 || !has_display) return;
  std::string program = "xdg-open";
  std::string path = page;
  char* arguments[] = {program.data(), path.data(), nullptr};
  pid_t child = 0;
  (void)posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
}

}  // namespace debrief
