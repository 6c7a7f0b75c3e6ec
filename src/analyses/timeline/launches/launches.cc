// Who launched what ran on a device? Each kernel, copy and fill is led back to the call of the
// runtime, the op, the module, the step and the compilation that it comes from; backward ops are
// led back to their forward op.
//
// Works of a CUDA or HIP graph share the correlation of the one call that launched the graph; each
// of them is linked to it. Cost: a few passes over the slices and two sorts of those with ids.
#include <algorithm>
#include <unordered_map>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/timeline/launches/backward.h"
#include "analyses/timeline/launches/host_context.h"
#include "analyses/timeline/work_origins.h"
#include "tables/timeline_backward.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"

namespace debrief::analyses::timeline_launches {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

constexpr auto kNeeds = kTableNames<TimelineSliceTable>;
constexpr auto kUses = kTableNames<TimelineStepTable>;
constexpr auto kMakes = kTableNames<TimelineLaunchTable, TimelineBackwardTable>;

// Steps of one timeline: by begin, none overlaps the next.
class Steps {
 public:
  explicit Steps(const TimelineView& view)
      : table_(view.model.tables.Get<TimelineStepTable>()),
        rows_(timeline::RowsOf(table_, view.who.input)) {}

  int32_t At(int64_t time) const {
    auto first = table_.start_ns.begin() + static_cast<std::ptrdiff_t>(rows_.begin);
    auto last = table_.start_ns.begin() + static_cast<std::ptrdiff_t>(rows_.end);
    auto after = std::upper_bound(first, last, time);
    if (after == first) return kNone32;
    const auto row = static_cast<size_t>(after - table_.start_ns.begin()) - 1;
    return time < table_.end_ns[row] ? table_.step[row] : kNone32;
  }

 private:
  const TimelineStepTable& table_;
  timeline::RowRange rows_;
};

class Writer {
 public:
  Writer(const TimelineView& view, Part& part) : view_(view), part_(part), steps_(view) {}

  void Add(const WorkOrigin& origin, const HostContext& context) {
    auto row = Part::RowOf<TimelineLaunchRow>(view_.who);
    row.input = view_.who.input;
    row.slice = origin.work;
    row.launch = origin.call;
    row.graph = origin.graph;
    const int32_t host = origin.host();
    row.step = steps_.At(view_.start[TimelineView::At(host == kNone32 ? origin.work : host)]);
    if (host != kNone32) {
      const size_t at = TimelineView::At(host);
      row.op = context.op[at];
      row.top_op = context.top_op[at];
      row.module = context.module[at];
      row.compile_id = CompileIdOf(context.region[at]);
    }
    part_.tables.Edit<TimelineLaunchTable>().Add(row);
  }

  void Add(const BackwardLink& link) {
    auto row = Part::RowOf<TimelineBackwardRow>(view_.who);
    row.input = view_.who.input;
    row.backward = link.backward;
    row.forward = link.forward;
    row.told_by = part_.pools.Intern(link.by_flow ? "flow" : "sequence");
    part_.tables.Edit<TimelineBackwardTable>().Add(row);
  }

 private:
  StringId CompileIdOf(int32_t region) {
    if (region == kNone32) return StringId::kNone;
    const StringId name = view_.name[TimelineView::At(region)];
    auto [at, is_new] = compile_ids_.try_emplace(name, StringId::kNone);
    if (is_new) at->second = part_.pools.Intern(CompileIdIn(view_.model.pools.Text(name)));
    return at->second;
  }

  const TimelineView& view_;
  Part& part_;
  Steps steps_;
  std::unordered_map<StringId, StringId> compile_ids_;  // by name of the region
};

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) {
    NameRoles roles(model.pools);
    const std::vector<BackwardLink> backward = BackwardLinksOf(view, roles);
    const HostContext context = HostContextOf(view, roles, backward);
    Writer writer(view, part);
    for (const WorkOrigin& origin : timeline::WorkOriginsOf(view)) writer.Add(origin, context);
    for (const BackwardLink& link : backward) writer.Add(link);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_launches",
               .sentence = "Which op, module and compilation launched each kernel?",
               .example = "(makes tables only)",
               .needs = kNeeds,
               .makes = kMakes,
               .uses = kUses},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_launches
