// Tables of ideal cycles: by the names of a run, what their categories took, and which table
// belongs to which iteration (utilisation.h).
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "accel/run.h"
#include "accel/stages/utilisation.h"
#include "model/accel/iterations.h"

namespace debrief::accel {

namespace {

uint64_t PairKey(uint32_t first, uint32_t second) { return uint64_t{first} << 32 | second; }

}  // namespace

int32_t NamedTable::RowOf(StringId name, const Run& run) {
  const auto [at, is_new] = rows_.try_emplace(name, -1);
  if (is_new) at->second = RowOf(WithoutExec(run.Text(name)));
  return at->second;
}

int32_t NamedTable::RowOf(std::string_view kernel) const {
  const auto at = table_.by_name.find(std::string(kernel));
  return at == table_.by_name.end() ? -1 : static_cast<int32_t>(at->second);
}

// The last row is followed by the first: a job may hold several rounds.
bool NamedTable::Follows(int32_t first, int32_t second) {
  const std::vector<uint32_t>& sequence = table_.sequence;
  if (pairs_.empty() && !sequence.empty()) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      pairs_.insert(PairKey(sequence[i], sequence[(i + 1) % sequence.size()]));
    }
  }
  if (first < 0 || second < 0) return false;
  return pairs_.contains(PairKey(static_cast<uint32_t>(first), static_cast<uint32_t>(second)));
}

CategoryUse& TableUse::Of(std::string_view category) {
  const auto at = std::find_if(categories.begin(), categories.end(),
                               [&](const CategoryUse& use) { return use.category == category; });
  if (at != categories.end()) return *at;
  // Total stays last.
  return *categories.insert(categories.end() - 1, CategoryUse{.category = std::string(category)});
}

NamedTable& Utilization::Table(const IdealTable& table) {
  std::unique_ptr<NamedTable>& named = tables[&table];
  if (named == nullptr) named = std::make_unique<NamedTable>(table);
  return *named;
}

TableUse& Utilization::Use(const Value& pid, const IdealTable& table, bool autopilot) {
  std::vector<size_t>& of_pid = uses_of_pid[pid];
  for (const size_t at : of_pid) {
    if (uses[at].table == &table) return uses[at];
  }
  of_pid.push_back(uses.size());
  TableUse& use = uses.emplace_back();
  use.pid = pid;
  use.table = &table;
  use.autopilot = autopilot;
  use.categories.push_back({.category = "Total"});
  use.Of("StcdpHbm");
  use.Of("other");
  for (const std::string& category : table.categories) use.Of(category);
  return use;
}

std::pair<uint32_t, int64_t> JobKey(const Event& event, const Run& run) {
  return {event.job, IntegerArg(event, key::kCorrelation, run).value_or(-1)};
}

namespace {

using KernelRows = std::vector<uint32_t>;  // indices of events

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

void ChooseForJob(KernelRows& kernels, const EventList& events, const CompilerLog& log,
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
  ByValue<ByValue<KernelRows>> ranks;  // by job
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
