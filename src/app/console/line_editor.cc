#include "app/console/line_editor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <termios.h>
#include <unistd.h>

#include "app/terminal.h"
#include "base/text/columns.h"

namespace debrief {

namespace {

constexpr char kEscape = '\x1b';

// Keys one by one and without echo, until it goes out of scope.
class RawTerminal {
 public:
  RawTerminal() {
    is_set_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (is_set_) tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
  }
  ~RawTerminal() {
    if (is_set_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
  bool is_set_ = false;
};

void Show(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// The line again, moved to the left where it is longer than the terminal is wide.
void Draw(std::string_view prompt, const EditedLine& line) {
  const size_t width = static_cast<size_t>(TerminalWidth()) - 1;
  std::string_view text = line.text();
  size_t cursor = line.cursor();
  while (TextWidth(prompt) + TextWidth(text.substr(0, cursor)) >= width && cursor > 0) {
    text.remove_prefix(1);
    --cursor;
  }
  while (TextWidth(prompt) + TextWidth(text) > width) text.remove_suffix(1);
  const size_t column = TextWidth(prompt) + TextWidth(text.substr(0, cursor));
  Show(fmt::format("\r{}{}{}[K\r{}[{}C", prompt, text, kEscape, kEscape, column));
}

}  // namespace

std::optional<std::string> LineEditor::Read(std::string_view prompt, bool& cancelled) {
  const RawTerminal raw;
  EditedLine line(completer_, history_);
  cancelled = false;
  Draw(prompt, line);
  for (char byte = 0; read(STDIN_FILENO, &byte, 1) == 1;) {
    const EditedLine::Event event = line.Take(byte);
    if (event == EditedLine::Event::kListed)
      Show(fmt::format("\r\n{}\r\n", fmt::join(line.choices(), "  ")));
    Draw(prompt, line);
    cancelled = event == EditedLine::Event::kCancelled;
    if (event == EditedLine::Event::kEnded) break;
    if (event != EditedLine::Event::kDone && !cancelled) continue;
    Show("\r\n");
    if (cancelled) return "";
    const bool is_new = history_.empty() || history_.back() != line.text();
    if (is_new && !line.text().empty()) history_.push_back(line.text());
    return line.text();
  }
  Show("\r\n");
  return std::nullopt;
}

}  // namespace debrief
