#include "base/text/rank_list.h"

#include <fmt/format.h>

#include <vector>

namespace debrief {

namespace {

struct Run {
  int32_t first;
  int32_t last;
};

std::vector<Run> RunsOf(std::span<const int32_t> sorted) {
  std::vector<Run> runs;
  for (int32_t number : sorted) {
    if (!runs.empty() && runs.back().last + 1 == number) {
      runs.back().last = number;
    } else {
      runs.push_back({number, number});
    }
  }
  return runs;
}

std::string ToText(const Run& run) {
  return run.first == run.last ? fmt::format("{}", run.first)
                               : fmt::format("{}-{}", run.first, run.last);
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
    told += static_cast<size_t>(runs[i].last - runs[i].first) + 1;
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
