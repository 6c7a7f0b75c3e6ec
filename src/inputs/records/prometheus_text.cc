#include "inputs/records/prometheus_text.h"

#include <cmath>

#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::inputs {

namespace {

constexpr size_t kMostLabels = 64;

bool IsMetricByte(char c) { return IsWord(c) || c == ':'; }

std::string_view TakeMetricName(std::string_view& text) {
  size_t size = 0;
  while (size < text.size() && IsMetricByte(text[size])) ++size;
  const std::string_view name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

void SkipBlanks(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

// Behind the opening quote; the closing one is taken, too.
bool TakeQuoted(std::string_view& text, std::string& value) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return true;
    }
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      value += text[i] == 'n' ? '\n' : text[i];
    } else {
      value += text[i];
    }
  }
  return false;
}

bool TakeLabelSet(std::string_view& text, MetricLine& line) {
  if (!TakePrefix(text, "{")) return true;
  while (!text.empty()) {
    SkipBlanks(text);
    if (TakePrefix(text, "}")) return true;
    const std::string_view key = TakeMetricName(text);
    std::string value;
    if (key.empty() || !TakePrefix(text, "=\"") || !TakeQuoted(text, value)) return false;
    if (line.labels.size() < kMostLabels) line.labels.emplace_back(key, std::move(value));
    SkipBlanks(text);
    TakePrefix(text, ",");
  }
  return false;
}

std::optional<double> TakeValue(std::string_view& text) {
  SkipBlanks(text);
  std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  if (word.starts_with('+')) word.remove_prefix(1);
  return ParseNumber<double>(word);
}

}  // namespace

std::string_view MetricLine::Label(std::string_view key) const {
  for (const auto& [name, value] : labels) {
    if (name == key) return value;
  }
  return {};
}

std::optional<MetricLine> ParseMetricLine(std::string_view line) {
  line = Trimmed(line);
  if (line.empty() || line.front() == '#' || IsDigit(line.front())) return std::nullopt;
  MetricLine parsed;
  parsed.name = TakeMetricName(line);
  if (parsed.name.empty() || !TakeLabelSet(line, parsed)) return std::nullopt;
  if (line.empty() || !IsSpace(line.front())) return std::nullopt;
  const std::optional<double> value = TakeValue(line);
  if (!value) return std::nullopt;
  parsed.value = *value;
  line = Trimmed(line);
  // OpenMetrics puts an exemplar behind "#".
  if (!line.empty() && line.front() != '#') {
    parsed.time = TakeValue(line);
    if (!parsed.time) return std::nullopt;
  }
  return parsed;
}

std::string_view FirstMetric(std::string_view head) {
  while (!head.empty()) {
    const std::string_view line = Trimmed(TakeLine(head));
    if (line.empty() || line.starts_with("# ")) continue;
    const std::optional<MetricLine> parsed = ParseMetricLine(line);
    return parsed ? parsed->name : std::string_view();
  }
  return {};
}

int64_t MetricTimeNs(double seconds) {
  constexpr double kMost = 9e9;  // year 2255
  if (!(seconds > 0) || seconds > kMost) return kNone64;
  return static_cast<int64_t>(std::llround(seconds * 1e3)) * 1'000'000;
}

}  // namespace debrief::inputs
