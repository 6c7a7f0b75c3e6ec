// A line of text with a cursor, as keys of a terminal change it: arrows, Home, End, Ctrl-A E U K W,
// the lines before, and Tab, which completes the word at the cursor. It knows nothing of a terminal
// (app/console/line_editor.h reads from one).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace debrief {

// Words that begin with `start`, in order.
using Completer = std::function<std::vector<std::string>(std::string_view start)>;

class EditedLine {
 public:
  enum class Event : uint8_t { kEdited, kDone, kCancelled, kEnded, kListed };

  EditedLine(const Completer& completer, const std::vector<std::string>& history)
      : completer_(completer), history_(history), at_(history.size()) {}

  // The next byte that the terminal sent.
  Event Take(char byte);

  const std::string& text() const { return text_; }
  size_t cursor() const { return cursor_; }
  // After kListed: what the word may become.
  const std::vector<std::string>& choices() const { return choices_; }

 private:
  Event TakeControl(char byte);
  void TakeSequence(char last);
  Event Complete();
  void Recall(size_t at);
  void Replace(std::string text);
  void EraseBack(size_t begin);
  size_t Before(size_t at) const;
  size_t Behind(size_t at) const;
  size_t WordStart() const;

  const Completer& completer_;
  const std::vector<std::string>& history_;
  size_t at_;          // in the history; its size: the new line
  std::string fresh_;  // the new line, while an older one is shown
  std::string text_;
  size_t cursor_ = 0;     // in bytes
  std::string sequence_;  // an escape sequence that is not whole yet
  std::vector<std::string> choices_;
};

}  // namespace debrief
