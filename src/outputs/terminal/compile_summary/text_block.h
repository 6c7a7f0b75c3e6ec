// Text for the summary: rows with aligned columns under a title.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace debrief::outputs::compile_summary {

class TextBlock {
 public:
  TextBlock(std::string_view title, std::vector<std::string> heads)
      : title_(title), heads_(std::move(heads)) {}

  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Title, heads, at most `most` rows and a word about the others. The last column is cut at
  // `width`. Nothing when there are no rows.
  void Write(size_t most, size_t width, std::string& out) const;

 private:
  std::string title_;
  std::vector<std::string> heads_;
  std::vector<std::vector<std::string>> rows_;
};

// "17.0 s", "340 ms"; "-" for none.
std::string SecondsText(double seconds);
// "6.1 MB".
std::string BytesText(double bytes);
// "train.py:27"; the last part of the path is enough to find it. "-" when not known.
std::string PlaceText(std::string_view file, int64_t line);
// The first line, with control characters escaped.
std::string OneLine(std::string_view text);

}  // namespace debrief::outputs::compile_summary
