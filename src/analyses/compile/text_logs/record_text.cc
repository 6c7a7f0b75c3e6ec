#include "analyses/compile/text_logs/record_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyses/compile/break_text.h"
#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::analyses::compile_text_logs {

namespace {

// "train.py:7", before 2.2 also without the line.
void ParseCodePlace(std::string_view place, FunctionText& code) {
  const size_t colon = place.rfind(':');
  const bool has_line = colon + 1 < place.size() && IsDigit(place[colon + 1]);  // npos + 1 is 0
  code.file = colon != std::string_view::npos && has_line ? place.substr(0, colon) : place;
  if (code.file.size() < place.size()) code.line = LeadingNumber(place.substr(colon + 1), kNone32);
}

// "f in train.py:7"
void ParseFunctionIn(std::string_view text, FunctionText& code) {
  const size_t in = text.find(" in ");
  code.function = text.substr(0, in);
  if (in != std::string_view::npos) ParseCodePlace(text.substr(in + 4), code);
}

// The first of a Python list of strings, or the one string: without its quotes.
std::string_view FirstQuoted(std::string_view text) {
  const size_t open = text.find_first_of("'\"");
  if (open == std::string_view::npos) return Trimmed(text);
  const std::string_view rest = text.substr(open + 1);
  // A quote inside of the string is of the other kind, or stands before a name.
  for (size_t end = rest.find(text[open]); end != std::string_view::npos;
       end = rest.find(text[open], end + 1)) {
    const std::string_view behind = rest.substr(end + 1);
    if (behind.empty() || behind.find_first_of(",])") == 0) return rest.substr(0, end);
  }
  return rest;
}

// The two strings that 2.1 logs as they are.
RecompileText ParsePair(std::string_view text) {
  constexpr std::string_view kReason = "triggered by the following guard failure";
  RecompileText parsed;
  ParseFunctionIn(text.substr(0, text.find("', ")), parsed.code);
  const size_t at = text.find(kReason);
  if (at == std::string_view::npos) return parsed;
  std::string_view reason = text.substr(at + kReason.size());
  const bool is_list = TakePrefix(reason, "s: [");
  if (!is_list) TakePrefix(reason, ": ");
  while (reason.ends_with(')') || reason.ends_with('\'') || reason.ends_with('"')) {
    const bool closes = reason.ends_with(')') && reason.size() > 1 &&
                        (reason[reason.size() - 2] == '\'' || reason[reason.size() - 2] == '"');
    if (reason.ends_with(')') && !closes) break;
    reason.remove_suffix(closes ? 2 : 1);
    if (closes) break;
  }
  parsed.reasons.emplace_back(is_list ? FirstQuoted(reason) : reason);
  return parsed;
}

// "4/1: guard"
bool BeginsReason(std::string_view line) {
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view id = line.substr(0, colon);
  return id.find('/') != std::string_view::npos &&
         id.find_first_not_of("0123456789/_!") == std::string_view::npos;
}

// The text up to " train.py:9 in f (...)" or ", for more info run with".
std::string_view WithoutPlace(std::string_view text) {
  text = text.substr(0, text.find(", for more info run with "));
  const size_t in = text.find(" in ");
  if (in == std::string_view::npos) return text;
  const size_t blank = text.substr(0, in).rfind(' ');
  return blank == std::string_view::npos ? text : text.substr(0, blank);
}

// "s0 = 8 for L['x'].size()[0] [2, int_oo]"
ShapeText ParseSymbol(std::string_view text) {
  ShapeText shape{.kind = "create_symbol"};
  const size_t equals = text.find(" = "), of = text.find(" for ");
  shape.symbol = text.substr(0, equals);
  if (equals != std::string_view::npos && of != std::string_view::npos && equals < of)
    shape.value = text.substr(equals + 3, of - equals - 3);
  if (of == std::string_view::npos) return shape;
  text.remove_prefix(of + 5);
  const size_t range = text.rfind(" [");
  shape.source = text.substr(0, range);
  if (range != std::string_view::npos) shape.range = text.substr(range + 1);
  return shape;
}

// The last line of a traceback's frames is followed by the exception: "type: reason", of which the
// first line may only announce the second ("backend='inductor' raised:").
void ParseException(std::string_view text, SuppressedText& parsed) {
  bool in_frames = false;
  while (!text.empty()) {
    const std::string_view before = text;
    const std::string_view line = TakeLine(text);
    if (line.starts_with(' ')) {
      in_frames |= Trimmed(line).starts_with("File \"");
      continue;
    }
    const size_t colon = line.find(": ");
    if (!in_frames || colon == std::string_view::npos || line.find(' ') < colon) continue;
    parsed.type = line.substr(0, colon);
    parsed.reason = before.substr(colon + 2);
    in_frames = false;
  }
}

// "Graph break: call_function print from user code at:" and the frames; where no reason is told
// there, the exception behind them has it.
std::string OldBreakText(std::string_view text) {
  constexpr std::string_view kFrom = "from user code at";
  const size_t at = FirstLine(text).rfind(kFrom);
  if (at == std::string_view::npos) return {};
  std::string_view reason = Trimmed(text.substr(0, at)), rest = text.substr(at + kFrom.size());
  TakePrefix(rest, ":");
  const size_t trace = rest.find("Traceback (most recent call last):");
  const auto frames = ParseTraceback(rest.substr(0, trace));
  if (frames.empty()) return {};
  if (TakePrefix(reason, "skip:")) reason = Trimmed(reason);
  if (reason.empty()) {
    if (trace == std::string_view::npos) return {};  // a warning; the break is told by itself
    const std::string_view whole = Trimmed(rest);
    reason = whole.substr(whole.rfind('\n') + 1);
    TakePrefix(reason, "torch._dynamo.exc.Unsupported: ");
  }
  std::string made =
      fmt::format("Graph break in user code at {}:{}\nReason: {}\nUser code traceback:\n",
                  frames.back().file, frames.back().line, reason);
  return made += rest.substr(std::min(rest.find("  File "), rest.size()), trace);
}

}  // namespace

std::optional<RecompileText> ParseRecompile(std::string_view text) {
  if (TakePrefix(text, "('Recompiling function ")) return ParsePair(text);
  if (!TakePrefix(text, "Recompiling function ")) return std::nullopt;
  RecompileText parsed;
  ParseFunctionIn(TakeLine(text), parsed.code);
  bool begins = true;  // the next is a reason, whatever it is
  bool has_ids = false, verbose = false;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    std::string_view rest = Trimmed(line, " ");
    if (rest.starts_with("guard ") && rest.ends_with(" failures:")) begins = verbose = true;
    if (!TakePrefix(rest, "- ") && rest != "-") continue;
    // Behind the mark the line is as it was logged, with its indentation.
    line.remove_prefix(std::min(line.find('-') + 2, line.size()));
    has_ids |= BeginsReason(line);
    const bool is_one = !has_ids && !verbose && !line.starts_with(' ');
    if (begins || is_one || BeginsReason(line)) {
      parsed.reasons.emplace_back(line);
    } else if (!parsed.reasons.empty()) {
      (parsed.reasons.back() += '\n') += line;
    }
    begins = false;
  }
  return parsed;
}

std::optional<LimitText> ParseLimit(std::string_view text) {
  if (!TakePrefix(text, "torch._dynamo hit config.")) return std::nullopt;
  if (!text.starts_with("recompile_limit") && !text.starts_with("cache_size_limit") &&
      !text.starts_with("accumulated_"))
    return std::nullopt;
  LimitText parsed;
  const std::string_view head = FirstLine(text);
  parsed.limit = LeadingNumber(head.substr(std::min(head.find('(') + 1, head.size())), int32_t{0});
  while (!text.empty()) {
    std::string_view line = Trimmed(TakeLine(text));
    if (TakePrefix(line, "function: '")) {
      const size_t quote = line.find('\'');
      parsed.code.function = line.substr(0, quote);
      const size_t open = line.find('(');
      if (open != std::string_view::npos && line.ends_with(')'))
        ParseCodePlace(line.substr(open + 1, line.size() - open - 2), parsed.code);
    } else if (TakePrefix(line, "last reason: ")) {
      parsed.reason = line;
    } else if (TakePrefix(line, "reasons: ")) {
      parsed.reason = FirstQuoted(line);
    }
  }
  return parsed;
}

std::optional<ShapeText> ParseShape(std::string_view text) {
  text = FirstLine(text);
  if (TakePrefix(text, "create_symbol ")) return ParseSymbol(WithoutPlace(text));
  for (std::string_view name :
       {"create_unbacked_symint ", "create_unbacked_symfloat ", "create_unbacked_symbool "}) {
    if (!TakePrefix(text, name)) continue;
    text = WithoutPlace(text);
    const size_t blank = std::min(text.find(' '), text.size());
    return ShapeText{.kind = "create_unbacked_symbol",
                     .symbol = text.substr(0, blank),
                     .range = Trimmed(text.substr(blank))};
  }
  if (TakePrefix(text, "eval ")) {
    const size_t added = text.find(" [guard added]");
    if (added == std::string_view::npos) return std::nullopt;
    return ShapeText{.kind = "guard_added_fast", .expression = text.substr(0, added)};
  }
  if (TakePrefix(text, "could not evaluate ")) {
    constexpr std::string_view kAssumed = "it was assumed to be ";
    const size_t due = text.find(" due to data dependen"), assumed = text.find(kAssumed);
    ShapeText shape{.kind = "propagate_real_tensors_provenance", .expression = text.substr(0, due)};
    if (assumed != std::string_view::npos)
      shape.result = WithoutPlace(text.substr(assumed + kAssumed.size()));
    return shape;
  }
  return std::nullopt;
}

std::optional<std::string_view> ParseGraphSkip(std::string_view text) {
  constexpr std::string_view kSkipping = "skipping cudagraphs due to ";
  if (!TakePrefix(text, kSkipping)) return std::nullopt;
  while (TakePrefix(text, kSkipping)) {  // 2.3 says it twice
  }
  text = text.substr(0, text.find(" Found from"));
  return Trimmed(FirstLine(text), " .[]'");
}

int32_t ParseGraphSizes(std::string_view text) {
  constexpr std::string_view kObserved = "We have observed ";
  const size_t at = text.find(kObserved);
  if (!text.starts_with("CUDAGraph supports dynamic shapes") || at == std::string_view::npos)
    return 0;
  return LeadingNumber(text.substr(at + kObserved.size()), int32_t{0});
}

std::optional<FunctionText> ParseStart(std::string_view text) {
  if (!TakePrefix(text, "Step 1: torchdynamo start tracing ") &&
      !TakePrefix(text, "torchdynamo start compiling "))
    return std::nullopt;
  text = FirstLine(text);
  text = text.substr(0, text.find(", stack "));
  const size_t blank = text.find(' ');
  FunctionText code{.function = text.substr(0, blank), .file = {}};
  if (blank != std::string_view::npos) ParseCodePlace(text.substr(blank + 1), code);
  return code;
}

std::optional<SuppressedText> ParseSuppressed(std::string_view text) {
  SuppressedText parsed{.code = {}, .type = {}, .reason = {}, .user_file = {}, .text = text};
  if (!TakePrefix(text, "WON'T CONVERT ")) return std::nullopt;
  const std::string_view head = Trimmed(TakeLine(text));
  const size_t blank = head.find(' '), line = head.rfind(" line ");
  parsed.code.function = head.substr(0, blank);
  if (line != std::string_view::npos && blank < line) {
    parsed.code.file = head.substr(blank + 1, line - blank - 1);
    parsed.code.line = LeadingNumber(head.substr(line + 6), kNone32);
  }
  const BreakText said = ParseBreakText(text);  // for its frames
  const size_t user = text.find("\nfrom user code:\n");
  if (user != std::string_view::npos && !said.frames.empty()) {
    const auto frames = ParseTraceback(text.substr(user + 17));
    if (!frames.empty()) {
      parsed.user_file = frames.back().file;
      parsed.user_line = frames.back().line;
    }
  }
  ParseException(text.substr(0, user), parsed);
  return parsed;
}

std::string BreakTextOf(std::string_view text) {
  constexpr std::string_view kPlain = "Graph break in user code at ";
  constexpr std::string_view kAgain = "Graph break (";
  if (text.starts_with(kPlain) || IsSkippedFrame(text)) return std::string(text);
  if (std::string_view old = text; TakePrefix(old, "Graph break: ")) return OldBreakText(old);
  const std::string_view head = FirstLine(text);
  const size_t at = head.find("in user code at ");
  if (!head.starts_with(kAgain) || at == std::string_view::npos) return {};
  return std::string(kPlain) + std::string(text.substr(at + 16));
}

}  // namespace debrief::analyses::compile_text_logs
