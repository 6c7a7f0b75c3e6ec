#include "analyses/compile/break_text.h"

#include <algorithm>
#include <array>

#include "base/text/scan.h"

namespace debrief {

namespace {

constexpr std::string_view kPlace = "Graph break in user code at ";
constexpr std::string_view kSecond = "*** While handling this graph break";
// With TORCHDYNAMO_VERBOSE=1 the frames above are those of the caller.
constexpr std::string_view kStarted = "tracing attempt started here ==========\n";

// `File "x.py", line 3, in f`
bool ParseFrame(std::string_view line, TextFrame& frame) {
  if (!TakePrefix(line, "File \"")) return false;
  const size_t file = line.find("\", line ");
  if (file == std::string_view::npos) return false;
  frame.file = line.substr(0, file);
  line.remove_prefix(file + 8);
  frame.line = LeadingNumber(line, 0);
  const size_t in = line.find(", in ");
  if (in != std::string_view::npos) frame.function = line.substr(in + 5);
  return true;
}

// "train.py:32" and what follows on the line.
void ParsePlace(std::string_view place, BreakText& parsed) {
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return;
  parsed.file = place.substr(0, colon);
  parsed.line = LeadingNumber(place.substr(colon + 1), 0);
}

// Removes what stands before the reason.
void SkipIntroduction(std::string_view& text, BreakText& parsed) {
  if (TakePrefix(text, kPlace)) ParsePlace(TakeLine(text), parsed);
  if (TakePrefix(text, "Reason: ")) return;
  if (!TakePrefix(text, "Graph Break Reason: ")) return;
  // Where an empty line follows at once, the first line only announces the reason.
  const size_t end = text.find('\n');
  const bool announces = end != std::string_view::npos && text.substr(end).starts_with("\n\n") &&
                         !text.substr(end).starts_with("\n\nUser code traceback:");
  if (announces) text.remove_prefix(end + 2);
}

// Where the text of this line goes; null when it has no label. What is left of the line is
// what follows the label.
std::string_view* Labelled(std::string_view& line, BreakText& parsed) {
  if (TakePrefix(line, "Explanation: ")) return &parsed.explanation;
  if (TakePrefix(line, "Developer debug context: ")) return &parsed.context;
  if (TakePrefix(line, "For more details about this graph break, please visit: "))
    return &parsed.link;
  if (TakePrefix(line, "Hint: ")) return &parsed.hints.emplace_back();
  return nullptr;
}

// The second break has labels of its own, which say less than its name.
void ParseSecond(std::string_view text, BreakText& parsed) {
  while (!text.empty() && parsed.also.empty()) parsed.also = Trimmed(TakeLine(text));
}

// Explanations and hints may go on over several lines; an empty line ends them.
void ParseBlock(std::string_view text, BreakText& parsed) {
  while (!text.empty() && parsed.reason.empty()) parsed.reason = Trimmed(TakeLine(text));
  std::string_view* field = nullptr;
  while (!text.empty()) {
    if (text.starts_with(kSecond)) {
      TakeLine(text);
      return ParseSecond(text, parsed);
    }
    std::string_view line = Trimmed(TakeLine(text));
    if (line.empty()) {
      field = nullptr;
    } else if (std::string_view* labelled = Labelled(line, parsed)) {
      field = labelled;
      *field = line;
    } else if (field != nullptr) {
      *field = {field->data(), static_cast<size_t>(line.data() + line.size() - field->data())};
    }
  }
}

constexpr std::string_view kRaised = "\ntorch._dynamo.exc.";
constexpr std::string_view kTraceback = "\nTraceback (most recent call last):";

BreakText ParseSkippedFrame(std::string_view text) {
  BreakText parsed;
  parsed.frames = ParseTraceback(text.substr(0, text.find(kTraceback)));
  text.remove_prefix(text.rfind(kRaised) + kRaised.size());
  text.remove_prefix(std::min(text.find(": ") + 2, text.size()));  // npos + 2 is 1
  ParseBlock(text.substr(0, text.find("\nfrom user code:")), parsed);
  return parsed;
}

}  // namespace

bool IsSkippedFrame(std::string_view text) {
  return (text.starts_with("Graph break: skip: from user code at:") ||
          text.starts_with("Graph break: torch.compile cannot properly resume")) &&
         text.find(kRaised) != std::string_view::npos;
}

bool NamesRecompileLimit(std::string_view text) {
  text = FirstLine(text);
  return Contains(text, "recompile_limit") || Contains(text, "cache_size_limit") ||
         text.starts_with("Dynamo recompile limit exceeded") ||
         text.starts_with("Dynamo cache limit exceeded");
}

std::string_view ResumedFunction(std::string_view function) {
  if (!TakePrefix(function, "torch_dynamo_resume_in_")) return function;
  return function.substr(0, function.rfind("_at_"));
}

std::string ShortReason(std::string_view text) {
  text = Trimmed(text);
  std::string reason(Trimmed(TakeLine(text)));
  if (reason.ends_with(':') && !text.empty()) (reason += ' ') += Trimmed(TakeLine(text));
  return reason;
}

std::vector<TextFrame> ParseTraceback(std::string_view text) {
  std::vector<TextFrame> frames;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (line.empty() || line[0] != ' ') {
      if (frames.empty()) continue;
      break;
    }
    TextFrame frame;
    if (ParseFrame(Trimmed(line), frame)) {
      frames.push_back(frame);
    } else if (!frames.empty() && frames.back().code.empty()) {
      frames.back().code = Trimmed(line);
    }
  }
  return frames;
}

BreakText ParseBreakText(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kEnds = {
      "\nUser code traceback:\n", "\nfrom user code:\n", "\nTraceback (most recent call last):\n"};
  if (IsSkippedFrame(text)) return ParseSkippedFrame(text);
  BreakText parsed;
  SkipIntroduction(text, parsed);
  size_t end = std::string_view::npos;
  for (std::string_view label : kEnds) {
    const size_t at = text.substr(0, end).find(label);
    if (at == std::string_view::npos) continue;
    end = at;
    const std::string_view trace = text.substr(at + label.size());
    const size_t started = trace.find(kStarted);
    parsed.frames = ParseTraceback(
        started == std::string_view::npos ? trace : trace.substr(started + kStarted.size()));
  }
  ParseBlock(text.substr(0, end), parsed);
  return parsed;
}

void ParseGuardLine(std::string_view text, GuardLine& guard) {
  constexpr std::string_view kComment = "  # ";
  const size_t comment = text.find(kComment);
  guard.guard = Trimmed(text.substr(0, comment));
  if (comment == std::string_view::npos) return;
  text.remove_prefix(comment + kComment.size());
  const size_t place = text.rfind(kComment);
  if (place != std::string_view::npos) {
    guard.code = Trimmed(text.substr(0, place));
    text.remove_prefix(place + kComment.size());
  }
  text = Trimmed(text.substr(0, text.find(" (HINT: ")));
  const size_t in = text.rfind(" in ");
  const size_t colon = text.substr(0, in).rfind(':');
  if (in == std::string_view::npos || colon == std::string_view::npos) return;
  guard.file = text.substr(0, colon);
  guard.function = text.substr(in + 4);
  guard.line = LeadingNumber(text.substr(colon + 1, in - colon - 1), guard.line);
}

StackId AddTextStack(const std::vector<TextFrame>& frames, Pools& pools) {
  if (frames.empty()) return StackId::kNone;
  auto text = [&](std::string_view view) {
    return view.empty() ? StringId::kNone : pools.Intern(view);
  };
  std::vector<FrameId> ids;
  ids.reserve(frames.size());
  for (size_t i = frames.size(); i-- > 0;) {
    ids.push_back(pools.AddFrame({.file = text(frames[i].file),
                                  .function = text(frames[i].function),
                                  .line = frames[i].line,
                                  .text = text(frames[i].code)}));
  }
  return pools.AddStack(ids);
}

}  // namespace debrief
