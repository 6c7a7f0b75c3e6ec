// compute_bandwidth (-C bandwidth): counters "BW DmaI" and "BW DmaO" of each rank, the sum of all
// transfers that run at a time.
//
// Cost: sorts the ends of transfers; linear else.
#include <fmt/format.h>

#include <algorithm>

#include "accel/passes/passes.h"
#include "accel/passes/transfers.h"

namespace debrief::accel {
namespace {

struct Edge {
  double ts = 0;
  double change = 0;
  int opened = 0;
};

std::vector<Edge> EdgesOf(const std::vector<Transfer>& transfers, bool to_device) {
  std::vector<Edge> edges;
  for (const Transfer& transfer : transfers) {
    if (transfer.to_device != to_device) continue;
    edges.push_back({transfer.start, transfer.gigabytes_per_second, 1});
    edges.push_back({transfer.end, -transfer.gigabytes_per_second, -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.ts < b.ts; });
  return edges;
}

}  // namespace

void ComputeBandwidth(EventList& events, Run& run) {
  size_t emitted = 0, transfers = 0;
  for (const auto& [pid, of_rank] : run.Shared<Transfers>().by_rank) {
    transfers += of_rank.size();
    for (const bool to_device : {true, false}) {
      const CounterName counter{run.Intern(to_device ? "BW DmaI" : "BW DmaO"),
                                run.Intern("DataTransfer"), key::kGBs};
      const std::vector<Edge> edges = EdgesOf(of_rank, to_device);
      double rate = 0;
      int open = 0;
      for (size_t i = 0; i < edges.size(); ++i) {
        rate += edges[i].change;
        open += edges[i].opened;
        if (i + 1 < edges.size() && edges[i + 1].ts == edges[i].ts) continue;
        // Sums of doubles do not come back to 0 by themselves.
        events.push_back(MakeCounter(counter, pid, edges[i].ts, open == 0 ? 0 : rate, run));
        ++emitted;
      }
    }
  }
  run.console.Info(fmt::format("DTC event stats o/i: {} / {}", emitted, transfers));
}

}  // namespace debrief::accel
