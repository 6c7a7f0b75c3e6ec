#include "analyses/compile/text_logs/record_text.h"

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::analyses::compile_text_logs {

namespace {

// "train.py:7"
void ParseCodePlace(std::string_view place, std::string_view& file, int32_t& line) {
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return;
  file = place.substr(0, colon);
  line = LeadingNumber(place.substr(colon + 1), kNone32);
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

}  // namespace

std::optional<RecompileText> ParseRecompile(std::string_view text) {
  if (!TakePrefix(text, "Recompiling function ")) return std::nullopt;
  RecompileText parsed;
  const std::string_view head = TakeLine(text);
  const size_t in = head.find(" in ");
  parsed.function = head.substr(0, in);
  if (in != std::string_view::npos) ParseCodePlace(head.substr(in + 4), parsed.file, parsed.line);
  bool begins = false;  // recompiles_verbose: the next is a reason, whatever it is
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    std::string_view rest = Trimmed(line, " ");
    if (rest.starts_with("guard ") && rest.ends_with(" failures:")) begins = true;
    if (!TakePrefix(rest, "- ") && rest != "-") continue;
    // Behind the mark the line is as it was logged, with its indentation.
    line.remove_prefix(std::min(line.find('-') + 2, line.size()));
    if (begins || BeginsReason(line)) {
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
  while (!text.empty()) {
    std::string_view line = Trimmed(TakeLine(text));
    if (TakePrefix(line, "function: '")) {
      const size_t quote = line.find('\'');
      parsed.function = line.substr(0, quote);
      const size_t open = line.find('(');
      if (open != std::string_view::npos && line.ends_with(')'))
        ParseCodePlace(line.substr(open + 1, line.size() - open - 2), parsed.file, parsed.line);
    } else if (TakePrefix(line, "last reason: ")) {
      parsed.reason = line;
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
  if (!TakePrefix(text, "skipping cudagraphs due to ")) return std::nullopt;
  text = text.substr(0, text.find(" Found from"));
  return Trimmed(FirstLine(text), " .");
}

std::string BreakTextOf(std::string_view text) {
  constexpr std::string_view kPlain = "Graph break in user code at ";
  constexpr std::string_view kAgain = "Graph break (";
  if (text.starts_with(kPlain)) return std::string(text);
  const std::string_view head = FirstLine(text);
  const size_t at = head.find("in user code at ");
  if (!head.starts_with(kAgain) || at == std::string_view::npos) return {};
  return std::string(kPlain) + std::string(text.substr(at + 16));
}

}  // namespace debrief::analyses::compile_text_logs
