#include "base/text/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace debrief {

namespace {

constexpr int kStageWidth = 8;
constexpr int kBarWidth = 24;
constexpr int kShortestBar = 6;
// Before that a rate is chance.
constexpr int64_t kSoonestRateNs = 500'000'000;
constexpr double kNsPerSecond = 1e9;

struct Scale {
  double unit;
  std::string_view name;
};

constexpr std::array kScales = {Scale{1, "B"}, Scale{1e3, "kB"}, Scale{1e6, "MB"}, Scale{1e9, "GB"},
                                Scale{1e12, "TB"}};

const Scale& ScaleOf(double bytes) {
  size_t at = 0;
  while (at + 1 < kScales.size() && bytes >= kScales[at + 1].unit) ++at;
  return kScales[at];
}

std::string Number(double value) { return fmt::format("{:.{}f}", value, value < 10 ? 1 : 0); }

std::string Size(double bytes) {
  const Scale& scale = ScaleOf(bytes);
  if (scale.unit <= 1) return fmt::format("{:.0f} B", bytes);
  return fmt::format("{} {}", Number(bytes / scale.unit), scale.name);
}

std::string Amount(const ProgressState& state) {
  auto done = static_cast<double>(state.done);
  auto total = static_cast<double>(state.total);
  if (state.unit == ProgressUnit::kSteps) {
    return state.total == 0 ? fmt::format("{}", state.done)
                            : fmt::format("{} of {}", state.done, state.total);
  }
  if (state.total == 0) return Size(done);
  const Scale& scale = ScaleOf(total);
  if (scale.unit <= 1) return fmt::format("{} of {} B", state.done, state.total);
  return fmt::format("{} of {} {}", Number(done / scale.unit), Number(total / scale.unit),
                     scale.name);
}

// "45 s left", "3 min 20 s left", "2 h 5 min left".
std::string TimeLeft(double seconds) {
  auto whole = static_cast<int64_t>(std::min(seconds + 1, 1e9));
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {} s left", whole / 60, whole % 60);
  return fmt::format("{} h {} min left", whole / 3600, whole % 3600 / 60);
}

// What stands behind the bar, most important first.
std::vector<std::string> Words(const ProgressState& state) {
  std::vector<std::string> words = {Amount(state)};
  if (state.done == 0 || state.elapsed_ns < kSoonestRateNs) return words;
  double rate =
      static_cast<double>(state.done) / (static_cast<double>(state.elapsed_ns) / kNsPerSecond);
  if (state.unit == ProgressUnit::kBytes) words.push_back(Size(rate) + "/s");
  if (state.total > state.done)
    words.push_back(TimeLeft(static_cast<double>(state.total - state.done) / rate));
  return words;
}

std::string Bar(const ProgressState& state, int width) {
  double share =
      static_cast<double>(std::min(state.done, state.total)) / static_cast<double>(state.total);
  auto full = static_cast<size_t>(share * width);
  return fmt::format("[{}{}]", std::string(full, '#'),
                     std::string(static_cast<size_t>(width) - full, '.'));
}

}  // namespace

std::string ProgressLine(const ProgressState& state, int width) {
  std::string line = fmt::format("{:{}}", state.stage, kStageWidth);
  int left = width - static_cast<int>(line.size());
  std::string behind;
  for (const std::string& word : Words(state)) {
    if (static_cast<int>(behind.size() + word.size()) + 2 > left) break;
    behind += "  " + word;
  }
  // Two brackets and the blank before them.
  int bar = std::min(kBarWidth, left - static_cast<int>(behind.size()) - 3);
  if (state.total > 0 && bar >= kShortestBar) line += " " + Bar(state, bar);
  line += behind;
  return line.substr(0, static_cast<size_t>(std::max(width, 0)));
}

}  // namespace debrief
