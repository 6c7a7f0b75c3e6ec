#include "redact/chunks.h"

#include <algorithm>
#include <string>

namespace debrief::redact {

namespace {

constexpr size_t kPieceBytes = 1 << 20;
// A value, or the lines of one, that is longer is cut.
constexpr size_t kOverlapBytes = 64 << 10;

}  // namespace

size_t EndOfPiece(std::string_view text) {
  if (const size_t line = text.rfind('\n'); line != std::string_view::npos) return line + 1;
  for (std::string_view mark : {"},", "],", ",\"", ", \"", ", ", " "}) {
    const size_t at = text.rfind(mark);
    if (at != std::string_view::npos && at > 0) return at + 1;
  }
  return text.size();
}

Status ForEachPiece(const Source& source, const Sink& piece) {
  for (uint64_t at = 0; at < source.size();) {
    ASSIGN_OR_RETURN(const ByteView view, source.View(at, kPieceBytes));
    if (view.size() == 0) break;
    std::string_view text = view.text();
    if (at + text.size() < source.size()) {
      // Keys and their values may be on two lines: the last lines are looked at again only where
      // they end a paragraph, so the cut is at the last line end that no colon precedes.
      size_t end = EndOfPiece(text);
      for (int tries = 0; tries < 64 && end > 1 && end + kOverlapBytes > text.size(); ++tries) {
        const size_t last = text.find_last_not_of(" \t\r\n", end - 1);
        if (last == std::string_view::npos || (text[last] != ':' && text[last] != '=')) break;
        end = EndOfPiece(text.substr(0, last));
      }
      text = text.substr(0, end);
    }
    TRY(piece(text));
    at += text.size();
  }
  return {};
}

}  // namespace debrief::redact
