// Who launched what ran on a device? Each kernel, copy and fill is led back to the call of the
// runtime, the op, the module, the step and the compilation that it comes from; backward ops are
// led back to their forward op.
//
// Works of a CUDA or HIP graph share the correlation of the one call that launched the graph; each
// of them is linked to it. Cost: a few passes over the slices and two sorts of those with ids.
#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/by_timeline.h"
#include "analyses/timeline/launches/backward.h"
#include "analyses/timeline/work_origins.h"
#include "model/timeline/device_time.h"
#include "model/timeline/view.h"
#include "tables/timeline_launch.h"
#include "tables/timeline_slice.h"
#include "tables/timeline_step.h"
#include "torch/compiled_region.h"

namespace debrief::analyses::timeline_launches {

namespace {

using timeline::TimelineView;
using timeline::WorkOrigin;

// What is around each slice of the host: its op, module and compilation.
//
//   nn.Module: Linear_0 [ aten::linear [ aten::addmm [ cudaLaunchKernel ] ] ]
//                         top_op         op
//
// Backward ops run on another thread, where no module is around them: they get module and
// compilation of their forward op. Cost: two passes, since a slice stands before what it encloses.

// By slice; kNone32 where there is none. A slice is around itself.
struct HostContext {
  std::vector<int32_t> op, top_op;
  std::vector<int32_t> module;  // slice of the module's call
  std::vector<int32_t> region;  // slice whose name has the compile id
};

class Sweep {
 public:
  Sweep(const TimelineView& view, NameRoles& roles) : view_(view), roles_(roles) {
    for (auto* column : {&context_.op, &context_.top_op, &context_.module, &context_.region})
      column->assign(view.slices.size(), kNone32);
  }

  void Run() {
    for (int32_t slice = 0; slice < view_.slice_count(); ++slice) Visit(slice);
  }

  // What has nothing around it yet takes over what the forward op has.
  void TakeFromForward(std::span<const BackwardLink> links) {
    for (const BackwardLink& link : links) {
      const size_t to = TimelineView::At(link.backward), from = TimelineView::At(link.forward);
      if (context_.module[to] == kNone32) context_.module[to] = context_.module[from];
      if (context_.region[to] == kNone32) context_.region[to] = context_.region[from];
    }
  }

  HostContext Take() { return std::move(context_); }

 private:
  void Visit(int32_t slice) {
    const size_t at = TimelineView::At(slice);
    if (view_.parent[at] != kNone32) Inherit(at, TimelineView::At(view_.parent[at]));
    switch (roles_(view_.name[at])) {
      case NameRole::kModule:
        context_.module[at] = slice;
        return;
      case NameRole::kRegion:
        if (!CompileIdOfRegion(view_.NameOf(slice)).empty()) context_.region[at] = slice;
        return;
      case NameRole::kStep:
      case NameRole::kCompiledCall:
        return;
      case NameRole::kPlain:
      case NameRole::kBackward:
        break;
    }
    if (view_.kind[at] != view_.kinds.op) return;
    context_.op[at] = slice;
    if (context_.top_op[at] == kNone32) context_.top_op[at] = slice;
  }

  void Inherit(size_t at, size_t parent) {
    context_.op[at] = context_.op[parent];
    context_.top_op[at] = context_.top_op[parent];
    if (context_.module[at] == kNone32) context_.module[at] = context_.module[parent];
    if (context_.region[at] == kNone32) context_.region[at] = context_.region[parent];
  }

  const TimelineView& view_;
  NameRoles& roles_;
  HostContext context_;
};

HostContext HostContextOf(const TimelineView& view, NameRoles& roles,
                          std::span<const BackwardLink> backward) {
  Sweep sweep(view, roles);
  sweep.Run();
  if (!backward.empty()) {
    sweep.TakeFromForward(backward);
    sweep.Run();
  }
  return sweep.Take();
}

class Writer {
 public:
  Writer(const TimelineView& view, Part& part) : view_(view), part_(part), steps_(view) {}

  void Add(const WorkOrigin& origin, const HostContext& context) {
    auto row = view_.NewRow<TimelineLaunchRow>();
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

 private:
  StringId CompileIdOf(int32_t region) {
    if (region == kNone32) return StringId::kNone;
    const StringId name = view_.name[TimelineView::At(region)];
    auto [at, is_new] = compile_ids_.try_emplace(name, StringId::kNone);
    if (is_new) at->second = part_.pools.Intern(CompileIdOfRegion(view_.model.pools.Text(name)));
    return at->second;
  }

  const TimelineView& view_;
  Part& part_;
  timeline::StepFinder steps_;
  std::unordered_map<StringId, StringId> compile_ids_;  // by name of the region
};

Status Run(const Model& model, AnalysisResult& result) {
  ForEachTimeline(model, result, [&](const TimelineView& view, Part& part) {
    NameRoles roles(model.pools, RoleOfName);
    const HostContext context = HostContextOf(view, roles, BackwardLinksOf(view, roles));
    Writer writer(view, part);
    for (const WorkOrigin& origin : timeline::WorkOriginsOf(view)) writer.Add(origin, context);
  });
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "timeline_launches",
               .scope = AnalysisScope::kRank,
               .sentence = "Which op, module and compilation launched each kernel?",
               .example = "(makes tables only)",
               .needs = kTableNames<TimelineSliceTable>,
               .makes = kTableNames<TimelineLaunchTable>,
               .uses = kTableNames<timeline::ViewTables, TimelineStepTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::timeline_launches
