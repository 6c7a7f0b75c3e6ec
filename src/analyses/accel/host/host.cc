// Which functions of the accelerator's runtime take the time of the host?
//
// Cost: one pass over the slices.
#include <map>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "model/accel/dialect.h"
#include "model/timeline/view.h"
#include "tables/accel_host_call.h"
#include "tables/timeline.h"
#include "tables/timeline_slice.h"

namespace debrief::analyses::accel_host {

namespace {

using timeline::TimelineView;

struct Sum {
  int64_t calls = 0, total_ns = 0, self_ns = 0, max_ns = 0;
};

std::map<StringId, Sum> SumsOf(const TimelineView& view) {
  std::map<StringId, Sum> sums;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    if (view.kind[at] != view.kinds.runtime || view.duration[at] < 0) continue;
    Sum& sum = sums[view.name[at]];
    ++sum.calls;
    sum.total_ns += view.duration[at];
    sum.self_ns += view.duration[at];
    sum.max_ns = std::max(sum.max_ns, view.duration[at]);
    int32_t parent = view.parent[at];
    if (parent == kNone32 || view.kind[TimelineView::At(parent)] != view.kinds.runtime) continue;
    sums[view.name[TimelineView::At(parent)]].self_ns -= view.duration[at];
  }
  return sums;
}

// Names of nodes stand behind "Compute of": what begins like a phase is of it.
std::string_view PhaseOf(std::string_view function) {
  for (const accel::RuntimePhase& each : accel::RuntimePhases()) {
    std::string_view flex = each.flex.substr(0, each.flex.find('$'));
    bool is_open = flex.size() < each.flex.size();
    if (!flex.empty() && (is_open ? function.starts_with(flex) : function == flex))
      return each.phase;
    if (!each.torch.empty() && function == each.torch) return each.phase;
  }
  return {};
}

void AddRows(const TimelineView& view, Part& part) {
  const auto& timelines = view.model.tables.Get<TimelineTable>();
  int64_t span_ns = timelines.end_ns[view.row] - timelines.start_ns[view.row];
  for (const auto& [name, sum] : SumsOf(view)) {
    auto row = Part::RowOf<AccelHostCallRow>(view.who);
    row.name = part.pools.Intern(view.model.pools.Text(name));
    std::string_view phase = PhaseOf(view.model.pools.Text(name));
    if (!phase.empty()) row.phase = part.pools.Intern(phase);
    row.calls = sum.calls;
    row.total_ns = sum.total_ns;
    row.self_ns = sum.self_ns;
    row.mean_ns = static_cast<double>(sum.total_ns) / static_cast<double>(sum.calls);
    row.max_ns = sum.max_ns;
    if (span_ns > 0)
      row.share_pct = 100 * static_cast<double>(sum.total_ns) / static_cast<double>(span_ns);
    part.tables.Edit<AccelHostCallTable>().Add(row);
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, AddRows);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "accel_host",
               .scope = AnalysisScope::kRank,
               .sentence =
                   "Which functions of the accelerator's runtime take the time of the host?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineTable, TimelineSliceTable>,
               .makes = kTableNames<AccelHostCallTable>,
               .uses = kTableNames<timeline::ViewTables>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::accel_host
