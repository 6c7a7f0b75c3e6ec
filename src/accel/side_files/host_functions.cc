#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "accel/names.h"
#include "accel/run.h"
#include "accel/side_files/run_tables.h"
#include "model/accel/dialect.h"

namespace debrief::accel {
namespace {

struct Rank {
  std::unordered_map<StringId, size_t> index;  // by name of the event
  std::unordered_map<std::string, size_t> by_name;
  std::vector<HostFunction> functions;
  double start = 0, end = 0;
};

// Traces of torch have all that the host does; its runtime is a part.
bool IsOfRuntime(const Event& event, Run& run) {
  if (event.phase != 'X' || IsDeviceEvent(event, run)) return false;
  if (run.DialectOf(event) == Dialect::kFlex) return !event.Has(key::kCollDataSize);
  const std::string_view cat = run.Text(event.cat);
  return cat.ends_with("_runtime") || cat.ends_with("_driver") ||
         run.Text(event.name).starts_with("aiu");
}

std::string_view PhaseOf(std::string_view name, Dialect dialect) {
  for (const RuntimePhase& phase : RuntimePhases()) {
    if (name == (dialect == Dialect::kFlex ? phase.flex : phase.torch)) return phase.phase;
  }
  return name.starts_with("Compute of ") ? "node_compute" : "";
}

size_t IndexOf(const Event& event, Rank& rank, Run& run) {
  const auto [at, is_new] = rank.index.try_emplace(event.name, 0);
  if (!is_new) return at->second;
  const std::string name = WithPlaceholders(run.Text(event.name));
  const auto [named, is_new_name] = rank.by_name.try_emplace(name, rank.functions.size());
  at->second = named->second;
  if (is_new_name) {
    HostFunction& function = rank.functions.emplace_back();
    function.name = name;
    function.phase = PhaseOf(run.Text(event.name), run.DialectOf(event));
  }
  return at->second;
}

void Add(const Event& event, Rank& rank, Run& run) {
  const bool is_first = rank.functions.empty();
  HostFunction& function = rank.functions[IndexOf(event, rank, run)];
  function.calls += 1;
  function.total += event.dur;
  rank.start = is_first ? event.ts : std::min(rank.start, event.ts);
  rank.end = is_first ? event.end() : std::max(rank.end, event.end());
}

}  // namespace

std::vector<HostFunction> HostFunctions(const EventList& events, Run& run) {
  ByValue<Rank> ranks;
  for (const Event& event : events) {
    if (IsOfRuntime(event, run)) Add(event, ranks[RankOf(event)], run);
  }
  std::vector<HostFunction> all;
  for (auto& [pid, rank] : ranks) {
    for (HostFunction& function : rank.functions) {
      function.rank = pid;
      function.share = rank.end > rank.start ? function.total / (rank.end - rank.start) : 0;
      all.push_back(std::move(function));
    }
  }
  std::stable_sort(all.begin(), all.end(), [&](const HostFunction& a, const HostFunction& b) {
    if (!(a.rank == b.rank)) return PidBefore(a.rank, b.rank, run.strings);
    return a.total > b.total;
  });
  return all;
}

}  // namespace debrief::accel
