#include "analyses/timeline/launches/backward.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "model/timeline/kinds.h"
#include "tables/timeline_flow.h"
#include "torch/compiled_region.h"

namespace debrief::analyses::timeline_launches {

namespace {

using timeline::TimelineView;

struct Numbered {
  int64_t number, start;
  int32_t slice;
  bool is_backward;
};

std::vector<Numbered> NumberedOps(const TimelineView& view, NameRoles& roles) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  std::vector<Numbered> numbered;
  for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
    if (ops.sequence[row] < 0) continue;
    const int32_t slice = ops.slice[row];
    const size_t at = TimelineView::At(slice);
    const bool is_backward =
        ops.forward_thread[row] > 0 || roles(view.name[at]) == NameRole::kBackward;
    numbered.push_back({ops.sequence[row], view.start[at], slice, is_backward});
  }
  std::sort(numbered.begin(), numbered.end(), [](const Numbered& a, const Numbered& b) {
    return std::tuple(a.number, a.start, a.slice) < std::tuple(b.number, b.start, b.slice);
  });
  return numbered;
}

// Whether an op around `slice` is a backward op with the same number: then that one has the link.
bool IsInner(const TimelineView& view, int32_t slice, const Numbered* outer) {
  return outer != nullptr &&
         view.track[TimelineView::At(outer->slice)] == view.track[TimelineView::At(slice)] &&
         view.end(slice) <= view.end(outer->slice);
}

void LinkByNumber(const TimelineView& view, const std::vector<Numbered>& ops,
                  std::vector<BackwardLink>& links) {
  const Numbered* forward = nullptr;
  const Numbered* backward = nullptr;
  for (const Numbered& op : ops) {
    if (forward != nullptr && forward->number != op.number) forward = nullptr;
    if (backward != nullptr && backward->number != op.number) backward = nullptr;
    if (!op.is_backward) {
      forward = &op;
    } else if (!IsInner(view, op.slice, backward)) {
      backward = &op;
      if (forward != nullptr) links.push_back({op.slice, forward->slice, false});
    }
  }
}

struct Arrow {
  int64_t id;
  bool is_end;
  int32_t slice;
};

std::vector<Arrow> ForwardBackwardArrows(const TimelineView& view) {
  const auto& flows = view.model.tables.Get<TimelineFlowTable>();
  const StringId name = view.model.pools.strings.Find("fwdbwd");
  const StringId start = view.model.pools.strings.Find(timeline::kFlowStart);
  std::vector<Arrow> arrows;
  for (size_t row = view.flows.begin; row < view.flows.end; ++row) {
    if (name != StringId::kNone && flows.name[row] == name && flows.slice[row] != kNone32)
      arrows.push_back({flows.id[row], flows.phase[row] != start, flows.slice[row]});
  }
  std::sort(arrows.begin(), arrows.end(), [](const Arrow& a, const Arrow& b) {
    return std::tuple(a.id, a.is_end, a.slice) < std::tuple(b.id, b.is_end, b.slice);
  });
  return arrows;
}

// Only what numbers do not link: an arrow may end at the op inside of evaluate_function.
void LinkByArrow(const TimelineView& view, std::vector<BackwardLink>& links) {
  const std::vector<Arrow> arrows = ForwardBackwardArrows(view);
  std::unordered_set<int32_t> linked;
  for (const BackwardLink& link : links) linked.insert(link.backward);
  auto is_linked = [&](int32_t slice) {
    return linked.contains(slice) || linked.contains(view.parent[TimelineView::At(slice)]);
  };
  for (size_t i = 1; i < arrows.size(); ++i) {
    const Arrow& from = arrows[i - 1];
    const Arrow& to = arrows[i];
    if (from.id == to.id && !from.is_end && to.is_end && from.slice != to.slice &&
        !is_linked(to.slice))
      links.push_back({to.slice, from.slice, true});
  }
}

}  // namespace

NameRole RoleOfName(std::string_view name) {
  if (name.starts_with("ProfilerStep")) return NameRole::kStep;
  if (name.starts_with("nn.Module: ")) return NameRole::kModule;
  if (name.starts_with(kCompiledRegion)) return NameRole::kRegion;
  if (name.starts_with("## Call CompiledFxGraph")) return NameRole::kCompiledCall;
  if (name.starts_with("autograd::engine::evaluate_function")) return NameRole::kBackward;
  return NameRole::kPlain;
}

std::vector<BackwardLink> BackwardLinksOf(const TimelineView& view, NameRoles& roles) {
  std::vector<BackwardLink> links;
  LinkByNumber(view, NumberedOps(view, roles), links);
  LinkByArrow(view, links);
  auto order = [](const BackwardLink& link) {
    return std::tuple(link.backward, link.by_flow, link.forward);
  };
  std::sort(links.begin(), links.end(),
            [&](const BackwardLink& a, const BackwardLink& b) { return order(a) < order(b); });
  auto same = [](const BackwardLink& a, const BackwardLink& b) { return a.backward == b.backward; };
  links.erase(std::unique(links.begin(), links.end(), same), links.end());
  return links;
}

}  // namespace debrief::analyses::timeline_launches
