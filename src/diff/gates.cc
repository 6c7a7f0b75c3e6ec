#include "diff/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace debrief::diff {

namespace {

constexpr std::string_view kMetrics[] = {"step_time",    "compile_time", "memory_peak",
                                         "graph_breaks", "recompiles",   "compilations"};

struct Suffix {
  std::string_view text;
  double factor;
  Unit unit;
};
constexpr Suffix kSuffixes[] = {{"", 1, Unit::kCount},           {"ns", 1, Unit::kNanoseconds},
                                {"us", 1e3, Unit::kNanoseconds}, {"ms", 1e6, Unit::kNanoseconds},
                                {"s", 1e9, Unit::kNanoseconds},  {"B", 1, Unit::kBytes},
                                {"kB", 1e3, Unit::kBytes},       {"MB", 1e6, Unit::kBytes},
                                {"GB", 1e9, Unit::kBytes}};

Unit UnitOf(std::string_view metric) {
  if (metric.ends_with("_time")) return Unit::kNanoseconds;
  return metric == "memory_peak" ? Unit::kBytes : Unit::kCount;
}

Status Unreadable(std::string_view text) {
  return Status(Code::kUsage, fmt::format("--fail-on {}: not a gate", text))
      .Remedy(
          "Write new-error, new-warning, new-info, or a metric and a limit: step_time>5%, "
          "compile_time>20%, memory_peak>2%, graph_breaks>0, recompiles>0, compilations>0");
}

std::optional<Severity> LevelOf(std::string_view text) {
  if (text == "new-error") return Severity::kError;
  if (text == "new-warning") return Severity::kWarning;
  if (text == "new-info") return Severity::kInfo;
  return std::nullopt;
}

// The number and what stands behind it.
bool ParseThreshold(std::string_view text, Gate& gate) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gate.threshold);
  if (error != std::errc() || !(gate.threshold >= 0)) return false;
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  gate.is_percent = suffix == "%";
  if (gate.is_percent) return true;
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix || known.unit != UnitOf(gate.metric)) continue;
    gate.threshold *= known.factor;
    return true;
  }
  return false;
}

bool IsAtLeast(std::string_view note, Severity level) {
  const size_t arrow = note.rfind("-> ");
  const std::string_view now = arrow == std::string_view::npos ? note : note.substr(arrow + 3);
  if (now == "error") return true;
  if (now == "warning") return level != Severity::kError;
  return level == Severity::kInfo;
}

GateOutcome TestFindings(const Gate& gate, const RunDiff& diff) {
  for (const Section& section : diff.sections) {
    if (section.id != "findings") continue;
    for (const Row& row : section.rows) {
      if (row.change != "gone" && IsAtLeast(row.note, *gate.level))
        return {true, fmt::format("{}: {} ({})", gate.text, row.name, row.note)};
    }
  }
  return {false, fmt::format("{}: passed", gate.text)};
}

bool IsBeyond(const Gate& gate, const Change& change) {
  const auto more = static_cast<double>(change.difference());
  if (!gate.is_percent) return more > gate.threshold;
  return more * 100 > gate.threshold * static_cast<double>(change.a);
}

std::string Growth(const Metric& metric) {
  std::string percent = PercentText(metric.value);
  if (!percent.empty()) percent = fmt::format(", {}", percent);
  return fmt::format("{} -> {} ({}{})", AmountText(metric.value.a, metric.unit),
                     AmountText(metric.value.b, metric.unit),
                     SignedText(metric.value.difference(), metric.unit), percent);
}

}  // namespace

Result<Gate> ParseGate(std::string_view text) {
  Gate gate{.text = std::string(text), .level = LevelOf(text)};
  if (gate.level) return gate;
  const size_t sign = text.find('>');
  if (sign == std::string_view::npos) return Unreadable(text);
  gate.metric = std::string(text.substr(0, sign));
  if (std::find(std::begin(kMetrics), std::end(kMetrics), gate.metric) == std::end(kMetrics))
    return Unreadable(text);
  if (!ParseThreshold(text.substr(sign + 1), gate)) return Unreadable(text);
  return gate;
}

GateOutcome Test(const Gate& gate, const RunDiff& diff) {
  if (gate.level) return TestFindings(gate, diff);
  for (const Metric& metric : diff.metrics) {
    if (metric.name != gate.metric) continue;
    if (metric.value.noise == kNone64)
      return {false, fmt::format("{}: passed, too few steps to tell a change from chance: {}",
                                 gate.text, Growth(metric))};
    if (!IsBeyond(gate, metric.value))
      return {false, fmt::format("{}: passed: {}", gate.text, Growth(metric))};
    if (!metric.value.is_real)
      return {false, fmt::format("{}: passed, within noise: {}", gate.text, Growth(metric))};
    return {true, fmt::format("{}: {}", gate.text, Growth(metric))};
  }
  return {false, fmt::format("{}: passed, the runs do not both have it", gate.text)};
}

}  // namespace debrief::diff
