#include "base/text/rank_list.h"

#include <fmt/format.h>

#include <vector>

namespace debrief {

namespace {

// Numbers at equal distances: 3-7, or 0-1016 step 8.
struct Run {
  int32_t first;
  int32_t last;
  int64_t step;
  size_t count;
};

// Fewer than this, further apart than one, are easier to read one by one.
constexpr size_t kFewestWithStep = 5;

std::vector<Run> RunsOf(std::span<const int32_t> sorted) {
  std::vector<Run> runs;
  for (size_t i = 0; i < sorted.size(); i += runs.back().count) {
    auto distance = [&](size_t to) { return int64_t{sorted[to]} - sorted[to - 1]; };
    const int64_t step = i + 1 < sorted.size() ? distance(i + 1) : 1;
    size_t count = 1;
    while (i + count < sorted.size() && distance(i + count) == step) ++count;
    if (step < 1 || (step > 1 && count < kFewestWithStep)) count = 1;
    runs.push_back({sorted[i], sorted[i + count - 1], step, count});
  }
  return runs;
}

std::string ToText(const Run& run) {
  if (run.count == 1) return fmt::format("{}", run.first);
  std::string text = fmt::format("{}-{}", run.first, run.last);
  return run.step == 1 ? text : text + fmt::format(" step {}", run.step);
}

}  // namespace

std::string FoldNumbers(std::span<const int32_t> sorted) {
  std::string text;
  for (const Run& run : RunsOf(sorted)) text += (text.empty() ? "" : ", ") + ToText(run);
  return text;
}

std::string RanksInWords(std::span<const int32_t> sorted) {
  constexpr size_t kMostPieces = 12;
  std::vector<Run> runs = RunsOf(sorted);
  std::string text = sorted.size() == 1 ? "rank " : "ranks ";
  size_t told = 0;
  for (size_t i = 0; i < runs.size() && i < kMostPieces; ++i) {
    bool last = i + 1 == runs.size();
    text += i == 0 ? "" : last ? " and " : ", ";
    text += ToText(runs[i]);
    told += runs[i].count;
  }
  if (told < sorted.size()) text += fmt::format(" and {} more", sorted.size() - told);
  return text;
}

std::string RanksAsSubject(std::span<const int32_t> sorted) {
  std::string text = RanksInWords(sorted);
  text[0] = 'R';
  return text;
}

}  // namespace debrief
