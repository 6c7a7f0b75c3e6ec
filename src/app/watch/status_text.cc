#include "app/watch/status_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/rank_list.h"

namespace debrief::watch {

namespace {

double SecondsSince(int64_t then_ns, int64_t now_ns) {
  return then_ns == kNone64 ? 0 : static_cast<double>(now_ns - then_ns) / 1e9;
}

double UsualStep(const JobState& state) {
  std::vector<double> times;
  for (const auto& [rank, each] : state.ranks()) {
    if (each.step_s > 0) times.push_back(each.step_s);
  }
  if (times.empty()) return 0;
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void AddMetric(std::string_view name, std::string_view help, std::string_view type, double value,
               std::string& out) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3:.10g}\n", name, help, type, value);
}

// One line a rank where `value` gives a number; none for NaN.
template <typename Value>
void AddByRank(const JobState& state, std::string_view name, std::string_view help, Value value,
               std::string& out) {
  out += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
  for (const auto& [rank, each] : state.ranks()) {
    const double number = value(each);
    if (number == number) out += fmt::format("{}{{rank=\"{}\"}} {:.10g}\n", name, rank, number);
  }
}

}  // namespace

std::string StatusText(const JobState& state, const WatchFigures& figures) {
  constexpr double kQuiet = 3;  // seconds
  std::string text =
      state.last_step() == kNone64 ? "no step yet" : fmt::format("step {}", state.last_step());
  if (const double step = UsualStep(state); step > 0) text += fmt::format("  {:.3g} s/step", step);
  if (const auto behind = state.Stragglers(); !behind.empty())
    text += fmt::format("  behind: {}", RanksInWords(behind));
  if (state.recompiles() > 0) text += fmt::format("  {} recompiles", state.recompiles());
  if (state.exits() > 0) text += fmt::format("  {} exited", state.exits());
  if (figures.errors > 0) text += fmt::format("  {} errors found", figures.errors);
  const double quiet = SecondsSince(state.growth_ns(), figures.now_ns);
  if (quiet > kQuiet) text += fmt::format("  quiet for {:.0f} s", quiet);
  return text + fmt::format("  ({} ranks, {} files)", state.ranks().size(), figures.files);
}

std::string MetricsText(const JobState& state, const WatchFigures& figures) {
  std::string out;
  const auto gauge = [&](std::string_view name, std::string_view help, double value) {
    AddMetric(name, help, "gauge", value, out);
  };
  const auto counter = [&](std::string_view name, std::string_view help, double value) {
    AddMetric(name, help, "counter", value, out);
  };
  gauge("debrief_job_running", "1 while the job is followed", figures.is_running ? 1 : 0);
  gauge("debrief_job_ranks", "Ranks seen", static_cast<double>(state.ranks().size()));
  if (state.last_step() != kNone64)
    gauge("debrief_job_last_step", "Largest step that any rank printed",
          static_cast<double>(state.last_step()));
  gauge("debrief_job_stragglers", "Ranks behind the others",
        static_cast<double>(state.Stragglers().size()));
  gauge("debrief_job_exited_ranks", "Ranks that exited", static_cast<double>(state.exits()));
  gauge("debrief_job_quiet_seconds", "Seconds since anything was written",
        SecondsSince(state.growth_ns(), figures.now_ns));
  gauge("debrief_job_errors", "Findings of level error", static_cast<double>(figures.errors));
  gauge("debrief_job_warnings", "Findings of level warning", static_cast<double>(figures.warnings));
  counter("debrief_job_recompiles_total", "Recompilations of torch.compile",
          static_cast<double>(state.recompiles()));
  counter("debrief_job_trouble_lines_total", "Lines that report trouble",
          static_cast<double>(state.troubles()));
  counter("debrief_watch_analyses_total", "Analyses that were run",
          static_cast<double>(figures.analyses));
  counter("debrief_watch_read_bytes_total", "Bytes of output that were read",
          static_cast<double>(figures.bytes_read));
  AddByRank(
      state, "debrief_rank_step", "Last step of a rank",
      [](const RankState& each) {
        return each.step == kNone64 ? kNoDouble : static_cast<double>(each.step);
      },
      out);
  AddByRank(
      state, "debrief_rank_step_seconds", "Time of a step, smoothed",
      [](const RankState& each) { return each.step_s > 0 ? each.step_s : kNoDouble; }, out);
  AddByRank(
      state, "debrief_rank_quiet_seconds", "Seconds since a rank printed anything",
      [&](const RankState& each) {
        return each.output_ns == kNone64 ? kNoDouble : SecondsSince(each.output_ns, figures.now_ns);
      },
      out);
  AddByRank(
      state, "debrief_rank_exit_code", "Exit code of a rank; negative: a signal",
      [](const RankState& each) { return each.exit_code == kNone32 ? kNoDouble : each.exit_code; },
      out);
  return out;
}

}  // namespace debrief::watch
