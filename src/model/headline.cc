#include "model/headline.h"

#include <algorithm>

#include "base/text/clauses.h"
#include "base/text/columns.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

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

// A rule that shortened its headline itself left the whole sentence as the first evidence.
bool HasWhole(const Finding& finding) {
  constexpr size_t kAlike = 30;
  if (finding.evidence.empty() || !finding.evidence.front().table.empty()) return false;
  return finding.evidence.front().text.starts_with(
      std::string_view(finding.headline).substr(0, kAlike));
}

}  // namespace

std::string ShortText(std::string_view text, size_t width) {
  const std::string_view line = Trimmed(FirstLine(Trimmed(text)));
  if (TextWidth(line) <= width) return std::string(line);
  const size_t sentence = line.find(". ");
  if (sentence != std::string_view::npos && TextWidth(line.substr(0, sentence)) <= width)
    return std::string(line.substr(0, sentence));
  return CutAtWord(line, width);
}

void BoundHeadline(Finding& finding) {
  std::string whole = finding.headline;
  std::replace(whole.begin(), whole.end(), '\n', ' ');
  UnwrapShapes(whole);
  finding.headline = whole;
  if (TextWidth(whole) <= kLongestHeadline) return;
  finding.headline = CutAtClause(whole, kLongestHeadline);
  if (HasWhole(finding)) return;
  finding.evidence.insert(finding.evidence.begin(),
                          {.text = std::move(whole), .table = {}, .rows = {}});
}

}  // namespace debrief
