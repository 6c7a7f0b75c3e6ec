// Lines of input from a terminal, with keys and completion (base/text/edited_line.h).
//
// A small editor of our own: readline is under a licence that a library of ours could not have, and
// needs a terminal database that bare machines lack. It speaks the sequences that every terminal of
// today understands.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/edited_line.h"

namespace debrief {

// Reads lines from a terminal (stdin), whose settings are restored after each.
class LineEditor {
 public:
  explicit LineEditor(Completer completer) : completer_(std::move(completer)) {}

  // None at the end of the input (Ctrl-D). Ctrl-C gives up the line: `cancelled` is set and the
  // text is empty.
  std::optional<std::string> Read(std::string_view prompt, bool& cancelled);

 private:
  Completer completer_;
  std::vector<std::string> history_;
};

}  // namespace debrief
