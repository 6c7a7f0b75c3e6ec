// The lines of a text of any size, through windows: for small texts whose lines depend on each
// other, so that cutting them into ranges gains nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "inputs/importer.h"

namespace debrief::inputs {

// What is left of a longer line.
inline constexpr size_t kLongestLine = 64 * 1024;

using OnLine = std::function<void(std::string_view line, int64_t number)>;

// Calls `on_line` with every line of `source` and its number, from 1; the end of the line is taken
// off, a '\r' before it too. `window_bytes` are read at a time.
Status ForEachLine(const Source& source, uint64_t window_bytes, const OnLine& on_line);

// Calls `on_document(document, begin)` for each of the JSON objects that stand one behind the
// other, each from the begin of a line: as JSON lines, or printed over several lines.
template <typename OnDocument>
void ForEachDocument(std::string_view text, const OnDocument& on_document) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t next = std::min(text.find("\n{", begin + 1), text.size());
    on_document(text.substr(begin, next - begin), begin);
    begin = next;
  }
}

// The words of a line, between blanks.
std::vector<std::string_view> WordsOf(std::string_view line);

// Nanoseconds since 1970 of the first YYYYmmdd_HHMMSS in the name of a file, as
// torch.distributed.debug writes them (stacks_20261115_232140.txt); taken as UTC, it is the local
// time of rank 0's host. None when there is none.
int64_t TimeInName(std::string_view name);

// The base of readers of such texts. Some of the formats are JSON as well, which is read at once.
class TextReader : public Reader {
 public:
  explicit TextReader(const ImportContext& context);

 protected:
  // How JSON is read: up to which size, and what to report when it is longer or broken.
  struct JsonRules {
    uint64_t most_bytes;
    const DiagnosticKind& too_long;
    const DiagnosticKind& bad_json;
  };

  Status ForEachLine(const Source& source, const OnLine& on_line) const {
    return inputs::ForEachLine(source, window_bytes_, on_line);
  }
  // Its first byte that is no blank is '{'.
  static Result<bool> IsJsonObject(const Source& source);
  // `read` gets all of the range, with kPadding bytes behind it.
  Status ReadJson(const Source& source, ByteRange range, const JsonRules& rules, Part& part,
                  const std::function<Status(std::string_view text)>& read) const;

  Identity who_;
  int64_t time_ns_;  // that the name of the file tells

 private:
  uint64_t window_bytes_;
};

}  // namespace debrief::inputs
