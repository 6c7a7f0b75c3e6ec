#include "analyses/timeline/launches/host_context.h"

namespace debrief::analyses::timeline_launches {

namespace {

using timeline::TimelineView;

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
    switch (roles_.Of(view_.name[at])) {
      case NameRole::kModule:
        context_.module[at] = slice;
        return;
      case NameRole::kRegion:
        if (!CompileIdIn(view_.NameOf(slice)).empty()) context_.region[at] = slice;
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

}  // namespace

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

}  // namespace debrief::analyses::timeline_launches
