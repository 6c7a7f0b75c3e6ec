// analyze_power_statistics (--power-stats): how much power is drawn while kernels run, and while
// none does. Changes nothing.
//
// A sample of `Power` holds until the next one of its rank; these steps are cut by the merged times
// of "Cmpt Exec" slices, and every piece weighs as much as it lasts. The reference mixes the ranks
// and calls microseconds "ms"; without --compat every rank has its own lines.
//
// Cost: sorts; linear else.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "accel/passes/passes.h"
#include "accel/passes/power.h"

namespace debrief::accel {
namespace {

struct Span {
  double start = 0, end = 0;
};

struct Step {
  double ts = 0, watts = 0;
};

struct Piece {
  double watts = 0, length = 0;
};

std::vector<Span> Merge(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(), [](Span a, Span b) { return a.start < b.start; });
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.start <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

struct Cut {
  std::vector<Piece> with, without;
};

// Both lists are walked once.
Cut CutSteps(const std::vector<Step>& steps, const std::vector<Span>& busy) {
  Cut cut;
  size_t next = 0;
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    double at = steps[i].ts;
    const double end = steps[i + 1].ts;
    while (next > 0 && next <= busy.size() && busy[next - 1].end > at) --next;
    while (at < end) {
      while (next < busy.size() && busy[next].end <= at) ++next;
      const bool inside = next < busy.size() && busy[next].start <= at;
      const double border = next == busy.size() ? end : inside ? busy[next].end : busy[next].start;
      const double until = std::min(end, border);
      (inside ? cut.with : cut.without).push_back({steps[i].watts, until - at});
      at = until;
    }
  }
  return cut;
}

double WeightedMedian(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(), [](Piece a, Piece b) { return a.watts < b.watts; });
  double total = 0, below = 0;
  for (const Piece& piece : pieces) total += piece.length;
  for (const Piece& piece : pieces) {
    below += piece.length;
    if (below >= total / 2) return piece.watts;
  }
  return 0;
}

void Say(std::string_view what, const std::vector<Piece>& pieces, Run& run) {
  double energy = 0, total = 0, non_zero = 0, low = 0, high = 0;
  std::vector<Piece> drawn;
  for (const Piece& piece : pieces) {
    total += piece.length;
    energy += piece.length * piece.watts;
    high = std::max(high, piece.watts);
    if (piece.watts <= 0) continue;
    low = drawn.empty() ? piece.watts : std::min(low, piece.watts);
    non_zero += piece.length;
    drawn.push_back(piece);
  }
  const bool compat = run.options.compat;
  const double unit = compat ? 1 : 1e-3;
  run.console.Info(fmt::format(
      "{}: min_non_zero={:.2f}W, max={:.2f}W, mean_non_zero={:.2f}W, median_non_zero={:.2f}W, "
      "avg_total={:.2f}W (time-weighted, dur_total={:.2f}ms, dur_non_zero={:.2f}ms)",
      what, low, high, non_zero > 0 ? energy / non_zero : 0, WeightedMedian(std::move(drawn)),
      total > 0 ? energy / total : 0, total * unit, non_zero * unit));
}

struct PoweredRank {
  std::vector<Step> steps;
  std::vector<Span> busy;
};

void Analyze(PoweredRank& rank, const std::string& prefix, Run& run) {
  if (rank.steps.size() < 2) {
    run.console.Warning(prefix + "Power statistics need two samples of the Power counter or more.");
    return;
  }
  std::stable_sort(rank.steps.begin(), rank.steps.end(),
                   [](const Step& a, const Step& b) { return a.ts < b.ts; });
  const Cut cut = CutSteps(rank.steps, Merge(std::move(rank.busy)));
  Say(prefix + "Power with kernels", cut.with, run);
  Say(prefix + "Power without kernels", cut.without, run);
}

}  // namespace

void AnalyzePowerStatistics(EventList& events, Run& run) {
  const bool compat = run.options.compat;
  const StringId power = run.Intern("Power");
  ByValue<PoweredRank> ranks;
  for (const Event& event : events) {
    const Value pid = compat ? Value() : event.pid;
    if (event.phase == 'C' && event.name == power) {
      const Arg* arg = event.Find(key::kWatts);
      const auto watts = arg == nullptr ? std::nullopt : arg->value().AsNumber(run.strings);
      if (watts) ranks[pid].steps.push_back({event.ts, *watts});
    } else if (event.phase == 'X' && run.Traits(event).cmpt_exec && event.dur > 0) {
      ranks[pid].busy.push_back({event.ts, event.end()});
    }
  }
  for (auto& [pid, rank] : ranks) {
    Analyze(rank, compat ? "" : "rank " + pid.AsText(run.strings) + ": ", run);
  }
}

}  // namespace debrief::accel
