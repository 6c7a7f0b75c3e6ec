// Which rank is expected to be slowest, graph by graph. Pairing graphs by position is tlparse's
// way: wrong when ranks have other graphs, refused when they have more or fewer. Pairing those of
// the same compilation is always possible.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analyses/compile/ranks/ranks.h"
#include "analyses/compile/rows.h"
#include "tables/compile_runtime_delta.h"

namespace debrief::analyses::compile_ranks {

namespace {

struct Time {
  int32_t rank;
  double ns;
};

double ToMilliseconds(double ns) { return std::round(ns / 1e6 * 1000.0) / 1000.0; }

// True when the ranks differ by so much that it shows.
bool AddDelta(std::string_view pairing, std::string_view graph, const std::vector<Time>& times,
              Verdicts& verdicts) {
  Time fastest = {kNone32, std::numeric_limits<double>::infinity()};
  Time slowest = {kNone32, -std::numeric_limits<double>::infinity()};
  std::vector<int32_t> ranks;
  for (const Time& time : times) {
    if (time.ns <= fastest.ns) fastest = time;
    if (time.ns >= slowest.ns) slowest = time;
    ranks.push_back(time.rank);
  }
  Part& part = verdicts.part();
  CompileRuntimeDeltaRow row;
  row.job = verdicts.job();
  row.attempt = verdicts.attempt();
  row.pairing = part.pools.Intern(pairing);
  row.graph = part.pools.Intern(graph);
  row.delta_ms = ToMilliseconds(slowest.ns - fastest.ns);
  row.fastest_rank = fastest.rank;
  row.fastest_ms = ToMilliseconds(fastest.ns);
  row.slowest_rank = slowest.rank;
  row.slowest_ms = ToMilliseconds(slowest.ns);
  row.tied = slowest.ns == fastest.ns;
  row.ranks = InternRanks(ranks, part);
  part.tables.Edit<CompileRuntimeDeltaTable>().Add(row);
  return row.delta_ms > 0;
}

std::string_view StateOf(bool differs) { return differs ? "differs" : "consistent"; }

// `logs` have estimates, and at least one of them is there.
void CompareByPosition(const std::vector<const RankLogs::value_type*>& logs, Verdicts& verdicts) {
  size_t graphs = logs.front()->second.runtimes_ns.size();
  std::vector<std::vector<Time>> times(graphs);
  for (const auto* log : logs) {
    if (log->second.runtimes_ns.size() != graphs)
      return verdicts.Check("runtime", "unavailable", "ranks have different numbers of graphs");
    size_t position = 0;
    for (const auto& [graph, ns] : log->second.runtimes_ns)
      times[position++].push_back({log->first, ns});
  }
  bool differs = false;
  size_t position = 0;
  for (const auto& [graph, ns] : logs.front()->second.runtimes_ns)
    differs = AddDelta("position", graph, times[position++], verdicts) || differs;
  verdicts.Check("runtime", StateOf(differs), "");
}

void CompareByGraph(const std::vector<const RankLogs::value_type*>& logs, Verdicts& verdicts) {
  std::map<std::string_view, std::vector<Time>> times;
  for (const auto* log : logs) {
    for (const auto& [graph, ns] : log->second.runtimes_ns)
      times[graph].push_back({log->first, ns});
  }
  bool differs = false;
  size_t compared = 0;
  for (const auto& [graph, of_graph] : times) {
    if (of_graph.size() < 2) continue;
    differs = AddDelta("graph", graph, of_graph, verdicts) || differs;
    ++compared;
  }
  if (compared == 0)
    return verdicts.Check("runtime_by_graph", "unavailable", "no graph has estimates of two ranks");
  verdicts.Check("runtime_by_graph", StateOf(differs),
                 fmt::format("{} of {} graphs compared", compared, times.size()));
}

}  // namespace

void CompareRuntimes(const RankLogs& logs, Verdicts& verdicts) {
  std::vector<const RankLogs::value_type*> with_times;
  for (const auto& log : logs) {
    if (!log.second.runtimes_ns.empty()) with_times.push_back(&log);
  }
  if (with_times.empty()) {
    for (std::string_view what : {"runtime", "runtime_by_graph"})
      verdicts.Check(what, "unavailable", "no rank has runtime estimates");
    return;
  }
  CompareByPosition(with_times, verdicts);
  CompareByGraph(with_times, verdicts);
}

}  // namespace debrief::analyses::compile_ranks
