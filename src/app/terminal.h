// The outside world as the rest of the program sees it: stdout, progress on stderr, the clock.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/threads/progress.h"
#include "outputs/output.h"

namespace debrief {

// Answers leave through these two alone. What inputs wrote never moves a cursor, rings a bell
// or turns text around: every write passes PrintableLines(), so a Write() holds whole characters.
class StdoutSink final : public TextSink {
 public:
  StdoutSink();
  ~StdoutSink() override;
  void Write(std::string_view text) override;

 private:
  bool has_colours_;  // ours
};

class StderrSink final : public TextSink {
 public:
  void Write(std::string_view text) override;
};

// The exit code of a command that ended with `code`: an answer that could not be printed whole (a
// full disk) is an error. A reader that went away (head) had enough.
int CheckStdout(int code);

class SystemClock final : public Clock {
 public:
  int64_t NowNs() const override;
};

// A bar on stderr when that is a terminal and the user did not ask for quiet, else nothing.
std::unique_ptr<Progress> MakeProgress(bool quiet);

// One line on stderr that is written over, where that is a terminal; nothing elsewhere.
class StatusLine {
 public:
  explicit StatusLine(bool quiet);
  ~StatusLine() { Clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void Show(std::string_view text);
  // Before anything else is printed.
  void Clear();

 private:
  bool is_wanted_;
  std::string shown_;
};

// Colour only on a terminal that can, and not when NO_COLOR is set.
bool WantsColour();
int TerminalWidth();

// The value of an environment variable, or "".
std::string Environment(const char* name);

// "debrief: message (place). Remedy." on stderr: the one form of an error. Messages of several
// lines, as those of SQL, keep them.
void PrintError(const Status& status);
// The same; returns the exit code for it: 2 for wrong usage, else 1.
int Fail(const Status& status);
void PrintNote(std::string_view text);
// Several lines, as they are.
void PrintNotes(std::string_view lines);

// What was wrong in the inputs, for commands that print answers and no report: one line a kind and
// input on stderr; notes that need no action are left out.
void PrintTrouble(const Model& model);

}  // namespace debrief
