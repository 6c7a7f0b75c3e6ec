// A reason of a recompilation: whose guard, which, and for which line. The comment behind the guard
// has the place, its path cut at the front; the stack below, where there is one, has all of it.
#include <charconv>
#include <vector>

#include "analyses/compile/break_text.h"
#include "analyses/compile/recompiles/guard_text.h"

namespace debrief::analyses::compile_recompiles {

namespace {

constexpr std::string_view kComment = "  # ";

int32_t LineNumber(std::string_view text) {
  int32_t number = kNone32;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "train.py:60 in f (HINT: type int)"
void ParsePlace(std::string_view place, FailedGuard& parsed) {
  place = Trimmed(place.substr(0, place.find(" (HINT: ")));
  const size_t in = place.rfind(" in ");
  const size_t colon = place.substr(0, in).rfind(':');
  if (in == place.npos || colon == place.npos) return;
  parsed.file = place.substr(0, colon);
  parsed.line = LineNumber(place.substr(colon + 1));
  parsed.function = place.substr(in + 4);
}

bool IsId(std::string_view text) {
  return !text.empty() && text.find('/') != text.npos &&
         text.find_first_not_of("!0123456789/_-") == text.npos;
}

}  // namespace

FailedGuard ParseReason(std::string_view reason) {
  FailedGuard parsed;
  const std::vector<TextFrame> frames = reason.find('\n') != reason.npos
                                            ? ParseTraceback(reason.substr(reason.find('\n') + 1))
                                            : std::vector<TextFrame>();
  std::string_view line = FirstLine(reason);
  const size_t colon = line.find(": ");
  if (colon != line.npos && IsId(line.substr(0, colon))) {
    parsed.previous_id = line.substr(0, colon);
    line.remove_prefix(colon + 2);
  }
  const size_t comment = line.find(kComment);
  parsed.guard = Trimmed(line.substr(0, comment));
  if (comment != line.npos) {
    std::string_view rest = line.substr(comment + kComment.size());
    const size_t place = rest.rfind(kComment);
    if (place != rest.npos) parsed.code = Trimmed(rest.substr(0, place));
    ParsePlace(place == rest.npos ? rest : rest.substr(place + kComment.size()), parsed);
  }
  if (!frames.empty()) {
    const TextFrame& innermost = frames.back();
    parsed.file = innermost.file;
    parsed.line = innermost.line;
    parsed.function = innermost.function;
    if (!innermost.code.empty()) parsed.code = innermost.code;
  }
  return parsed;
}

}  // namespace debrief::analyses::compile_recompiles
