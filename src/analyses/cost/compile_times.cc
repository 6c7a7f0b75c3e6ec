#include "analyses/cost/compile_times.h"

#include <algorithm>

#include "tables/compile_phase.h"
#include "tables/compile_span.h"

namespace debrief::analyses::cost {

CompileTimes::CompileTimes(const Model& model) {
  const auto& phases = model.tables.Get<CompilePhaseTable>();
  for (size_t row = 0; row < phases.size(); ++row) {
    if (phases.depth[row] != 0) continue;
    times_[{phases.job[row], phases.attempt[row], phases.rank[row]}].push_back(
        {{phases.start_ns[row], phases.end_ns[row]}, phases.compile_id[row]});
  }
  const auto& spans = model.tables.Get<CompileSpanTable>();
  for (size_t row = 0; row < spans.size(); ++row) {
    if (model.pools.Text(spans.told_by[row]) != "metrics") continue;
    times_[{spans.job[row], spans.attempt[row], spans.rank[row]}].push_back(
        {{spans.start_ns[row], spans.end_ns[row]}, spans.compile_id[row]});
  }
  for (auto& [key, times] : times_) {
    std::stable_sort(times.begin(), times.end(), [](const CompileTime& a, const CompileTime& b) {
      return a.time.begin < b.time.begin;
    });
  }
}

std::span<const CompileTime> CompileTimes::Of(const Identity& who) const {
  auto found = times_.find(KeyOf(who));
  return found == times_.end() ? std::span<const CompileTime>() : found->second;
}

}  // namespace debrief::analyses::cost
