// Where did the start of a server go? vLLM and SGLang print how long they load, compile, capture
// and profile, each process for itself; where they print only the begin and the end of a phase, the
// times of these lines tell it. The slowest process is the one that all others wait for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyses/analysis.h"
#include "base/text/units.h"
#include "tables/serving_event.h"
#include "tables/serving_startup.h"

namespace debrief::analyses::text_serving {

namespace {

constexpr std::string_view kWhole = "start-up";
constexpr double kNsPerSecond = 1e9;

// A phase, and the one that it is a part of. The order is that of the start.
struct Phase {
  std::string_view name;
  std::string_view inside;
};
constexpr Phase kPhases[] = {{"distributed set-up", ""},
                             {"model load", ""},
                             {"download", "model load"},
                             {"weights", "model load"},
                             {"engine init", ""},
                             {"Dynamo", "compile"},
                             {"compile", "engine init"},
                             {"profiling run", "engine init"},
                             {"graph capture", "engine init"}};

using Process = std::tuple<int32_t, int64_t>;  // rank and process id

// One start: the lines of one input up to the first that says it is ready.
struct Start {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  int32_t input = kNone32;
  int64_t first_ns = kNone64;
  int64_t ready_ns = kNone64;
  bool ready = false;
  std::map<std::string_view, std::map<Process, double>> seconds;  // by phase
  std::map<std::pair<std::string_view, Process>, int64_t> begun;  // open phases

  double WholeSeconds() const {
    const bool known = ready && first_ns != kNone64 && ready_ns != kNone64 && ready_ns > first_ns;
    return known ? static_cast<double>(ready_ns - first_ns) / kNsPerSecond : kNoDouble;
  }
};

// The seconds that the line says, else since the phase began; not a number when neither is known.
double SecondsOf(const ServingEventTable& events, size_t row, std::optional<int64_t> begun) {
  if (!std::isnan(events.seconds[row])) return events.seconds[row];
  if (!begun || *begun == kNone64 || events.time_ns[row] == kNone64) return kNoDouble;
  return static_cast<double>(std::max<int64_t>(0, events.time_ns[row] - *begun)) / kNsPerSecond;
}

void AddPhase(const Model& model, size_t row, Start& start) {
  const auto& events = model.tables.Get<ServingEventTable>();
  const std::string_view phase = model.pools.Text(events.phase[row]);
  const Process process(events.rank[row], events.pid[row]);
  if (model.pools.Text(events.what[row]) == "begin") {
    start.begun.try_emplace({phase, process}, events.time_ns[row]);
    return;
  }
  std::optional<int64_t> begun;
  if (auto open = start.begun.extract({phase, process})) begun = open.mapped();
  const double seconds = SecondsOf(events, row, begun);
  if (!std::isnan(seconds)) start.seconds[phase][process] += seconds;
}

std::vector<Start> CollectStarts(const Model& model) {
  const auto& events = model.tables.Get<ServingEventTable>();
  std::map<int32_t, Start> by_input;
  for (size_t row = 0; row < events.size(); ++row) {
    Start& start = by_input[events.input[row]];
    start.job = events.job[row];
    start.attempt = events.attempt[row];
    start.input = events.input[row];
    if (start.ready) continue;
    const std::string_view what = model.pools.Text(events.what[row]);
    if (start.first_ns == kNone64) start.first_ns = events.time_ns[row];
    if (events.time_ns[row] != kNone64) start.ready_ns = events.time_ns[row];
    start.ready = what == "ready";
    if (what == "begin" || what == "end") AddPhase(model, row, start);
  }
  std::vector<Start> starts;
  for (auto& [input, start] : by_input) {
    if (!start.seconds.empty()) starts.push_back(std::move(start));
  }
  return starts;
}

ServingStartupRow NewRow(const Start& start, std::string_view phase, std::string_view inside,
                         Part& part) {
  ServingStartupRow row;
  row.job = start.job;
  row.attempt = start.attempt;
  row.input = start.input;
  row.phase = part.pools.Intern(phase);
  if (!inside.empty()) row.inside = part.pools.Intern(inside);
  return row;
}

void AddRows(const Start& start, Part& part) {
  auto& rows = part.tables.Edit<ServingStartupTable>();
  const double whole = start.WholeSeconds();
  if (!std::isnan(whole)) {
    auto row = NewRow(start, kWhole, "", part);
    row.seconds = row.fastest_seconds = whole;
    row.share = 1;
    rows.Add(row);
  }
  for (const Phase& phase : kPhases) {
    const auto told = start.seconds.find(phase.name);
    if (told == start.seconds.end()) continue;
    const bool is_part = start.seconds.contains(phase.inside);
    auto row = NewRow(start, phase.name, is_part ? phase.inside : "", part);
    const auto [fastest, slowest] =
        std::minmax_element(told->second.begin(), told->second.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
    row.rank = std::get<0>(slowest->first);
    row.seconds = slowest->second;
    row.fastest_seconds = fastest->second;
    row.processes = static_cast<int32_t>(told->second.size());
    if (!std::isnan(whole)) row.share = row.seconds / whole;
    rows.Add(row);
  }
}

// One phase without parts that takes most of a long start.
void Report(const Start& start, const Part& part, size_t begin, std::vector<Finding>& findings) {
  constexpr double kLongStart = 120, kMostly = 0.5;
  const auto& rows = part.tables.Get<ServingStartupTable>();
  const double whole = start.WholeSeconds();
  if (!(whole >= kLongStart)) return;
  constexpr std::array<std::string_view, 2> kWithParts = {"engine init", "model load"};
  for (size_t row = begin; row < rows.size(); ++row) {
    const std::string_view phase = part.pools.Text(rows.phase[row]);
    const bool has_parts = std::ranges::find(kWithParts, phase) != kWithParts.end();
    if (phase == kWhole || has_parts || !(rows.share[row] >= kMostly)) continue;
    Finding finding;
    finding.rule = "text_serving.start";
    finding.severity = Severity::kInfo;
    finding.role = Role::kObservation;
    finding.job = start.job;
    finding.attempt = start.attempt;
    auto words = [](double seconds) {
      return DurationText(static_cast<int64_t>(seconds * kNsPerSecond));
    };
    finding.headline = fmt::format("The server took {} to start, {} of it for: {}", words(whole),
                                   words(rows.seconds[row]), phase);
    finding.evidence.push_back({fmt::format("{:.0f} % of the start", rows.share[row] * 100),
                                "serving_startup",
                                {static_cast<int64_t>(row)}});
    finding.why = "as the server printed it";
    findings.push_back(std::move(finding));
    return;
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  for (const Start& start : CollectStarts(model)) {
    const size_t begin = result.part.tables.Get<ServingStartupTable>().size();
    AddRows(start, result.part);
    Report(start, result.part, begin, result.findings);
  }
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "text_serving",
               .sentence = "Where did the start of a server (vLLM, SGLang) go?",
               .example = "The server took 6 min 8 s to start, 5 min 2 s of it for: graph capture",
               .needs = kTableNames<ServingEventTable>,
               .makes = kTableNames<ServingStartupTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::text_serving
