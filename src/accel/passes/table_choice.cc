#include "accel/passes/table_choice.h"

#include <algorithm>
#include <span>

#include "model/accel/iterations.h"

namespace debrief::accel {
namespace {

using Kernels = std::vector<uint32_t>;  // indices of events

struct Score {
  double known = 0;  // share of the kernels
  double value = 0;
};

Score Rate(std::span<const uint32_t> piece, const EventList& events, NamedTable& table, Run& run) {
  double known = 0, in_order = 0, possible = 0, ideal = 0, time = 0;
  int32_t last = -1;
  for (const uint32_t at : piece) {
    const Event& event = events[at];
    const int32_t row = table.RowOf(event.name, run);
    const auto cycles =
        row < 0 ? 0.0 : static_cast<double>(table.table().kernels[static_cast<size_t>(row)].cycles);
    const double ideal_us = cycles / run.options.core_mhz;
    known += row >= 0;
    in_order += table.Follows(last, row);
    possible += row >= 0 && ideal_us <= event.dur;
    ideal += ideal_us;
    time += event.dur;
    last = row;
  }
  const auto count = static_cast<double>(piece.size());
  const double filled = time > 0 ? std::min(1.0, ideal / time) : 0;
  return {known / count, (known + possible) / count + 0.5 * in_order / count + 0.1 * filled};
}

void ChooseForPiece(std::span<const uint32_t> piece, const EventList& events,
                    const CompilerLog& log, Utilization& state, Run& run, TableChoice& choice) {
  if (piece.empty()) return;
  Score best;
  uint32_t best_table = 0;
  for (size_t i = 0; i < log.tables.size(); ++i) {
    const Score score = Rate(piece, events, state.Table(log.tables[i]), run);
    if (score.value <= best.value) continue;
    best = score;
    best_table = static_cast<uint32_t>(i);
  }
  ++choice.pieces;
  choice.unclear_pieces += best.known < 0.5;
  for (const uint32_t at : piece) choice.table[at] = best_table;
}

void ChooseForJob(Kernels& kernels, const EventList& events, const CompilerLog& log,
                  Utilization& state, Run& run, TableChoice& choice) {
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](uint32_t a, uint32_t b) { return events[a].ts < events[b].ts; });
  std::vector<uint32_t> names;
  for (const uint32_t at : kernels) names.push_back(static_cast<uint32_t>(events[at].name));
  const Iterations iterations = FindIterations(names);
  std::vector<size_t> borders{0};
  for (const size_t start : iterations.starts) {
    borders.push_back(start);
    borders.push_back(start + iterations.period);
  }
  borders.push_back(kernels.size());
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::span<const uint32_t> all(kernels);
    ChooseForPiece(all.subspan(borders[i], borders[i + 1] - borders[i]), events, log, state, run,
                   choice);
  }
}

}  // namespace

TableChoice ChooseTables(const EventList& events, Utilization& state, Run& run) {
  TableChoice choice;
  choice.table.resize(events.size(), 0);
  ByValue<ByValue<Kernels>> ranks;  // by job
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    if (!IsDeviceKernel(event, run)) continue;
    const CompilerLog* log = state.info.LogOf(RankOf(event));
    if (log == nullptr || log->tables.size() < 2) continue;
    ranks[RankOf(event)][Value::Integer(event.job)].push_back(static_cast<uint32_t>(i));
  }
  for (auto& [rank, jobs] : ranks) {
    for (auto& [job, kernels] : jobs) {
      ChooseForJob(kernels, events, *state.info.LogOf(rank), state, run, choice);
    }
  }
  return choice;
}

}  // namespace debrief::accel
