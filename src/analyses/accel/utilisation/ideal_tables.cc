#include <algorithm>
#include <map>
#include <tuple>

#include "analyses/accel/utilisation/utilisation.h"
#include "tables/accel_ideal.h"

namespace debrief::analyses::accel_utilisation {

namespace {

struct Fit {
  int64_t listed_calls = 0;
  int64_t unused = 0;  // kernels that it lists and that did not run
  auto Order() const { return std::tuple(listed_calls, -unused); }
};

Fit FitOf(const IdealTable& table, const std::unordered_map<StringId, int64_t>& calls) {
  Fit fit{.unused = static_cast<int64_t>(table.kernels.size())};
  for (const auto& [kernel, count] : calls) {
    if (!table.kernels.contains(kernel)) continue;
    fit.listed_calls += count;
    --fit.unused;
  }
  return fit;
}

}  // namespace

IdealTables::IdealTables(const Model& model) {
  const auto& rows = model.tables.Get<AccelIdealTable>();
  StringId total = model.pools.strings.Find("Total");
  std::map<std::pair<int32_t, int32_t>, IdealTable> tables;  // by input and number
  std::map<int32_t, std::pair<int32_t, int32_t>> whose;      // job and rank, by input
  for (size_t row = 0; row < rows.size(); ++row) {
    IdealTable& table = tables[{rows.input[row], rows.number[row]}];
    whose[rows.input[row]] = {rows.job[row], rows.rank[row]};
    table.phase = rows.phase[row];
    table.autopilot = rows.autopilot[row] != 0;
    if (rows.category[row] == total && rows.kernel[row] == total) {
      table.total_cycles = rows.cycles[row];
    } else {
      table.kernels[rows.kernel[row]] = {rows.category[row], rows.cycles[row]};
    }
  }
  int32_t last_input = kNone32;
  for (auto& [key, table] : tables) {
    if (table.total_cycles == kNone64) {  // a file of one kernel has no sum
      single_files_.phase = table.phase;
      single_files_.kernels.merge(table.kernels);
      continue;
    }
    if (logs_.empty() || key.first != last_input)
      logs_.push_back({.job = whose[key.first].first, .rank = whose[key.first].second});
    last_input = key.first;
    logs_.back().tables.push_back(std::move(table));
  }
}

const IdealTables::Log* IdealTables::LogOf(const Identity& who) const {
  std::vector<const Log*> logs;
  for (const Log& log : logs_) {
    if (log.job == who.job) logs.push_back(&log);
  }
  if (logs.empty()) {
    for (const Log& log : logs_) logs.push_back(&log);
  }
  if (logs.size() == 1) return logs.front();
  for (const Log* log : logs) {
    if (log->rank != kNone32 && log->rank == who.rank) return log;
  }
  // Logs that name no rank are in the order of ranks.
  bool in_range = who.rank >= 0 && static_cast<size_t>(who.rank) < logs.size();
  if (!in_range) return nullptr;
  const Log* log = logs[static_cast<size_t>(who.rank)];
  return log->rank == kNone32 ? log : nullptr;
}

const IdealTable* IdealTables::Choose(const Identity& who,
                                      const std::unordered_map<StringId, int64_t>& calls) const {
  const IdealTable* best = nullptr;
  Fit best_fit;
  auto consider = [&](const IdealTable& table) {
    Fit fit = FitOf(table, calls);
    if (fit.listed_calls == 0 || (best != nullptr && fit.Order() <= best_fit.Order())) return;
    best = &table;
    best_fit = fit;
  };
  if (const Log* log = LogOf(who)) {
    for (const IdealTable& table : log->tables) consider(table);
  }
  consider(single_files_);
  return best;
}

}  // namespace debrief::analyses::accel_utilisation
