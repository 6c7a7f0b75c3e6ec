// Lines that srun --label cut: it writes what is longer in pieces of one size, each with the label
// of its task, and pieces of several tasks alternate.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace debrief::inputs::job_text {

inline constexpr size_t kLabelledPiece = 1024;

struct LabelledLine {
  std::string_view label;  // "3: "
  std::string_view piece;
  // A full piece: the rest of the line comes with the next line of this label.
  bool goes_on() const { return piece.size() == kLabelledPiece; }
};

// None of a line without a label.
inline std::optional<LabelledLine> SplitLabel(std::string_view line) {
  constexpr size_t kLongestLabel = 16;
  const size_t colon = line.substr(0, kLongestLabel + 2).find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  return LabelledLine{line.substr(0, colon + 2), line.substr(colon + 2)};
}

// Labels whose line is not whole yet: a text must not be cut there.
class OpenPieces {
 public:
  void Add(std::string_view line) {
    const auto labelled = SplitLabel(line);
    if (!labelled || (labels_.empty() && !labelled->goes_on())) return;
    if (labelled->goes_on()) {
      labels_.emplace(labelled->label);
    } else if (const auto found = labels_.find(labelled->label); found != labels_.end()) {
      labels_.erase(found);
    }
  }
  bool empty() const { return labels_.empty(); }

 private:
  std::set<std::string, std::less<>> labels_;
};

}  // namespace debrief::inputs::job_text
