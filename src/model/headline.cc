#include "model/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

// Less than half a headline is not worth a clean end; a third is, where a whole sentence ends.
constexpr size_t kShortestHeadline = kLongestHeadline / 2;
constexpr size_t kShortestSentence = kLongestHeadline / 3;

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

// Bytes of `text` in `width` characters.
size_t BytesIn(std::string_view text, size_t width) {
  size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    const bool is_start = (static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80;
    if (is_start && width-- == 0) break;
  }
  return bytes;
}

// The last place before `limit` where the headline can end; 0 when there is none.
size_t ClauseEnd(std::string_view text, size_t limit) {
  size_t end = 0;
  for (std::string_view clause : kClauses) {
    const size_t least = clause == "; " ? kShortestSentence : kShortestHeadline;
    size_t at = text.rfind(clause, limit);
    while (at != std::string_view::npos && at > least &&
           (IsEnclosed(text, at) || IsInList(text, at)))
      at = text.rfind(clause, at - 1);
    if (at != std::string_view::npos && at > least) end = std::max(end, at);
  }
  return end;
}

std::string Words(std::string_view text, size_t width) {
  std::string_view kept = text.substr(0, BytesIn(text, width - 3));
  const size_t blank = kept.rfind(' ');
  // A single long word, a name for example, is cut where it is.
  if (blank != std::string_view::npos && blank > kept.size() / 2) kept = kept.substr(0, blank);
  return fmt::format("{}...", Trimmed(kept, " ,;:("));
}

// Shapes as PyTorch prints them: of a list with one shape in it, the shape.
void UnwrapShapes(std::string& text) {
  for (size_t at = text.find("[["); at != std::string::npos; at = text.find("[[", at + 1)) {
    const size_t end = text.find("]]", at);
    if (end == std::string::npos) return;
    const std::string inner = text.substr(at + 1, end - at);
    if (inner.find("],") != std::string::npos) continue;  // several
    text.replace(at, end + 2 - at, inner == "[]" ? "scalar" : inner);
  }
}

}  // namespace

std::string ShortText(std::string_view text, size_t width) {
  const std::string_view line = Trimmed(FirstLine(Trimmed(text)));
  if (TextWidth(line) <= width) return std::string(line);
  const size_t sentence = line.find(". ");
  if (sentence != std::string_view::npos && TextWidth(line.substr(0, sentence)) <= width)
    return std::string(line.substr(0, sentence));
  return Words(line, width);
}

void BoundHeadline(Finding& finding) {
  std::string whole = finding.headline;
  std::replace(whole.begin(), whole.end(), '\n', ' ');
  UnwrapShapes(whole);
  finding.headline = whole;
  if (TextWidth(whole) <= kLongestHeadline) return;
  const size_t end = ClauseEnd(whole, BytesIn(whole, kLongestHeadline));
  finding.headline = end == 0 ? Words(whole, kLongestHeadline) : whole.substr(0, end);
  finding.evidence.insert(finding.evidence.begin(),
                          {.text = std::move(whole), .table = {}, .rows = {}});
}

}  // namespace debrief
