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

// Keys of a store look like paths, and their first part says most.
bool OpensPath(std::string_view text, size_t at) {
  if (text.substr(0, at).ends_with("keys: ")) return false;
  return at == 0 || Contains(" '\"(=", text.substr(at - 1, 1));
}

}  // namespace

std::string WithShortPaths(std::string_view text) {
  constexpr size_t kShort = 20;
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const bool path = text[at] == '/' && OpensPath(text, at);
    const size_t end = path ? std::min(text.find_first_of(" '\"),;", at), text.size()) : at + 1;
    const std::string_view piece = text.substr(at, end - at);
    const size_t name = piece.substr(0, piece.find_last_not_of("/.:") + 1).rfind('/');
    const bool shorten =
        path && piece.size() > kShort && name != std::string_view::npos && name > 0;
    if (shorten) result += "...";
    result += shorten ? piece.substr(name) : piece;
    at = end;
  }
  return result;
}

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
  finding.headline = CutAtClause(WithShortPaths(whole), kLongestHeadline);
  if (HasWhole(finding)) return;
  finding.evidence.insert(finding.evidence.begin(),
                          {.text = std::move(whole), .table = {}, .rows = {}});
}

}  // namespace debrief
