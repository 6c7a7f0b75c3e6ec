#include "inputs/job_text/wrapped_rows.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "base/text/columns.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "inputs/job_text/line_class.h"
#include "inputs/job_text/lines/progress_lines.h"

namespace debrief::inputs::job_text {

namespace {

constexpr size_t kNarrowest = 60, kWidest = 400;

// A bar, a row of a table, or a line of a box, which fills the width by itself.
bool IsDrawn(std::string_view row) {
  const std::string_view inner = Trimmed(row);
  constexpr std::string_view kBoxes = "\u256d\u2502\u2570\u250c\u2514\u251c";
  constexpr size_t kLetter = 3;  // bytes
  const size_t box =
      inner.size() < kLetter ? std::string_view::npos : kBoxes.find(inner.substr(0, kLetter));
  if (box != std::string_view::npos && box % kLetter == 0) return true;
  constexpr std::string_view kEdges = "|+";
  if (inner.empty()) return true;
  const bool edged = kEdges.find(inner.front()) != std::string_view::npos &&
                     kEdges.find(inner.back()) != std::string_view::npos;
  if (edged) return true;
  return inner.find_first_not_of(inner.front()) == std::string_view::npos;
}

// How a row begins, whatever its numbers are.
std::string OpeningOf(std::string_view row) {
  constexpr size_t kOpening = 8;
  std::string opening(row.substr(0, kOpening));
  for (char& c : opening) c = IsDigit(c) ? '0' : c;
  return opening;
}

// Widths that terminals have by themselves; others need more rows to be believed.
bool IsUsual(size_t width) {
  constexpr size_t kUsual[] = {80, 100, 120, 132, 160, 200, 240};
  return std::ranges::find(kUsual, width) != std::end(kUsual);
}

// Is it broken where no line ends or begins? A word with a capital may begin a line.
bool BreaksWord(std::string_view row, std::string_view next) {
  constexpr std::string_view kInside = ")],;:.=_";
  const char last = row.back(), first = next.front();
  const bool blank = last == ' ' || (first == ' ' && next.size() > 1 && next[1] != ' ');
  if (blank || kInside.find(first) != std::string_view::npos) return true;
  const bool word = IsLower(last) || IsUpper(last) || IsDigit(last) || last == '_';
  return word && (IsLower(first) || IsDigit(first) || (IsUpper(first) && IsUpper(last)));
}

// What the rows that are as wide as the widest show.
struct FullRows {
  size_t width = 0;
  size_t full = 0;
  size_t broken = 0;  // whose next one goes on
  size_t glued = 0;   // in the middle of a word
  std::set<std::string> openings, next_openings;

  RowWidth Judge() const {
    if (width < kNarrowest || width > kWidest || broken * 3 < full * 2) return {};
    const size_t least = IsUsual(width) ? 2 : 4;
    if (broken >= least && openings.size() >= 2) return {width, true};
    // Lines behind one head begin alike, what is left of them does not.
    if (broken >= 4 && next_openings.size() * 2 >= broken) return {width, true};
    const size_t least_glued = IsUsual(width) ? 1 : 2;
    return broken == glued && glued >= least_glued ? RowWidth{width, false} : RowWidth{};
  }
};

}  // namespace

RowWidth WidthOfRows(std::string_view text) {
  FullRows seen;
  std::string_view before;  // the last row, when it is full
  LineSplitter rows(text);
  for (std::string_view row; rows.Next(row);) {
    if (row.ends_with('\r')) row.remove_suffix(1);
    // Escapes and progress bars make a row longer than it looks.
    if (row.size() > 4 * kWidest || row.find_first_of("\x1b\r") != std::string_view::npos)
      return {};
    const bool goes_on = !before.empty() && !BeginsLine(row, before, true);
    if (goes_on) {
      ++seen.broken;
      seen.next_openings.insert(OpeningOf(row));
      if (BreaksWord(before, row)) ++seen.glued;
    }
    const size_t width = TextWidth(row);
    if (width > seen.width) seen = {.width = width, .openings = {}, .next_openings = {}};
    const bool full = width == seen.width && !IsDrawn(row);
    before = full ? row : std::string_view();
    if (!full) continue;
    ++seen.full;
    seen.openings.insert(OpeningOf(row));
  }
  return seen.Judge();
}

bool BeginsLine(std::string_view row, std::string_view line, bool is_sure) {
  constexpr std::string_view kOpens[] = {"Traceback (most recent",
                                         "  File \"",
                                         "frame #",
                                         "[rank",
                                         "[default",
                                         "srun: ",
                                         "slurmstepd: ",
                                         "torch.distributed.",
                                         "  what():",
                                         "During handling of",
                                         "The above exception"};
  if (Trimmed(row).empty() || IsDrawn(row)) return true;
  const bool opens =
      std::ranges::any_of(kOpens, [&](std::string_view open) { return row.starts_with(open); });
  if (opens || OpeningOf(row) == OpeningOf(line)) return true;
  if (is_sure || (Classify(row) == LineClass::kOther && !ParseProgress(row))) return false;
  // What says something by itself may say more as the rest of a line.
  return !BreaksWord(line, row) ||
         Classify(std::string(line) + std::string(row)) == LineClass::kOther;
}

bool IsFull(std::string_view row, RowWidth width) {
  return TextWidth(row) == width.columns && !IsDrawn(row);
}

std::string UnwrapRows(std::string_view text, RowWidth width) {
  std::string lines;
  size_t begin = 0;  // of the line that the next row may go on with
  bool full = false;
  LineSplitter rows(text);
  for (std::string_view row; rows.Next(row);) {
    if (row.ends_with('\r')) row.remove_suffix(1);
    const std::string_view line = std::string_view(lines).substr(begin);
    if (!full || BeginsLine(row, line, width.is_sure)) {
      if (!lines.empty()) lines += '\n';
      begin = lines.size();
    }
    lines += row;
    full = IsFull(row, width);
  }
  lines += '\n';
  return lines;
}

}  // namespace debrief::inputs::job_text
