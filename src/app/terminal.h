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

class StdoutSink final : public TextSink {
 public:
  ~StdoutSink() override;
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

// Colour only on a terminal that can, and not when NO_COLOR is set.
bool WantsColour();
// Blocks and other signs only on a terminal whose locale says UTF-8.
bool WantsUnicode();
int TerminalWidth();

// The value of an environment variable, or "".
std::string Environment(const char* name);

// Shows a page, when stdout is a terminal and there is a display. Failing is no error.
void OpenInBrowser(const std::string& page);

// "debrief: <status>" on stderr.
void PrintError(const Status& status);
// The same; returns the exit code for it: 2 for wrong usage, else 1.
int Fail(const Status& status);
void PrintNote(std::string_view text);

// What was wrong in the inputs, for commands that print answers and no report: one line a kind and
// input on stderr; notes that need no action are left out.
void PrintTrouble(const Model& model);

}  // namespace debrief
