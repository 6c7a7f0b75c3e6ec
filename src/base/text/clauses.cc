#include "base/text/clauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

// Where a clause may begin: what stands before it is a sentence of its own.
constexpr std::string_view kClauses[] = {"; ", ": ",      ". ",      ", ",
                                         " (", " while ", " where ", " on rank"};

// Whether `at` is inside of brackets or quotes, whose half would be left.
bool IsEnclosed(std::string_view text, size_t at) {
  int depth = 0;
  bool is_quoted = false;
  for (char c : text.substr(0, at)) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (c == '"') is_quoted = !is_quoted;
  }
  return depth > 0 || is_quoted;
}

// "ranks 3, 5 and 7": what is left would be another list.
bool IsInList(std::string_view text, size_t at) {
  return at > 0 && IsDigit(text[at - 1]) && at + 2 < text.size() && IsDigit(text[at + 2]);
}

// "skipped 4 collectives, the first: all_reduce": what would be left promises something and ends.
bool IsPromise(std::string_view text, size_t at) { return text.substr(0, at).ends_with(" first"); }

// The last place within `width` where the sentence can end; 0 when there is none. Less than half of
// the width is not worth a clean end; a third is, where a whole sentence ends.
size_t ClauseEnd(std::string_view text, size_t width) {
  const size_t limit = BytesOfColumns(text, width);
  size_t end = 0;
  for (std::string_view clause : kClauses) {
    const size_t least = clause == "; " ? width / 3 : width / 2;
    size_t at = text.rfind(clause, limit);
    while (at != std::string_view::npos && at > least &&
           (IsEnclosed(text, at) || IsInList(text, at) || IsPromise(text, at)))
      at = text.rfind(clause, at - 1);
    if (at != std::string_view::npos && at > least) end = std::max(end, at);
  }
  return end;
}

}  // namespace

std::string CutAtWord(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  std::string_view kept = text.substr(0, BytesOfColumns(text, width > 3 ? width - 3 : 0));
  const size_t blank = kept.rfind(' ');
  if (blank != std::string_view::npos && blank > kept.size() / 2) kept = kept.substr(0, blank);
  return fmt::format("{}...", Trimmed(kept, " ,;:("));
}

std::string CutAtClause(std::string_view text, size_t width) {
  if (TextWidth(text) <= width) return std::string(text);
  const size_t end = ClauseEnd(text, width);
  return end == 0 ? CutAtWord(text, width) : std::string(text.substr(0, end));
}

std::vector<std::string> WrapAtMost(std::string_view text, size_t width, size_t most) {
  if (most == 1) return {CutAtClause(text, width)};
  std::vector<std::string> lines = Wrap(text, width);
  if (lines.size() <= most) return lines;
  // The first line that is left out makes the last one too long, so that it is cut and says so.
  const std::string more = lines[most];
  lines.resize(most);
  lines.back() = CutAtWord(lines.back() + " " + more, width);
  return lines;
}

}  // namespace debrief
