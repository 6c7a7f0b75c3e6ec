#include "analyses/timeline/collectives/issuers.h"

#include <algorithm>

#include "torch/collective_names.h"

namespace debrief::analyses::timeline_collectives {

using timeline::IsBookkeeping;
using timeline::TimelineView;

Issuers::Issuers(const TimelineView& view, const std::vector<int32_t>& kernels) : view_(view) {
  const auto& told = view.model.tables.Get<TimelineCollectiveTable>();
  for (size_t row = view.collectives.begin; row < view.collectives.end; ++row) {
    int32_t slice = told.slice[row];
    if (view.kinds.IsWork(view.kind[TimelineView::At(slice)])) continue;
    if (IsBookkeeping(view.model.pools.Text(told.op[row]))) continue;
    int64_t id = view.external_id[TimelineView::At(slice)];
    if (id != kNone64) by_external_id_.emplace(id, issuers_.size());
    issuers_.push_back({slice, row});
  }
  FindLaunches(kernels);
}

void Issuers::FindLaunches(const std::vector<int32_t>& kernels) {
  for (int32_t kernel : kernels) {
    int64_t correlation = view_.correlation[TimelineView::At(kernel)];
    if (correlation != kNone64) launch_of_.emplace(correlation, kNone32);
  }
  if (launch_of_.empty()) return;
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice);
    if (view_.kind[at] != view_.kinds.runtime || view_.correlation[at] == kNone64) continue;
    auto found = launch_of_.find(view_.correlation[at]);
    if (found != launch_of_.end()) found->second = slice;
  }
}

size_t Issuers::Around(int32_t slice) const {
  for (int32_t outer = view_.parent[TimelineView::At(slice)]; outer != kNone32;
       outer = view_.parent[TimelineView::At(outer)]) {
    auto found = std::partition_point(issuers_.begin(), issuers_.end(),
                                      [&](const Issuer& each) { return each.slice < outer; });
    if (found != issuers_.end() && found->slice == outer)
      return static_cast<size_t>(found - issuers_.begin());
  }
  return kNoIssuer;
}

std::vector<size_t> Issuers::Direct(int32_t kernel) {
  size_t issuer = kNoIssuer;
  size_t at = TimelineView::At(kernel);
  auto named = by_external_id_.find(view_.external_id[at]);
  if (named != by_external_id_.end()) issuer = named->second;
  auto launch = launch_of_.find(view_.correlation[at]);
  if (issuer == kNoIssuer && launch != launch_of_.end() && launch->second != kNone32)
    issuer = Around(launch->second);
  if (issuer == kNoIssuer) return {};
  issuers_[issuer].taken = true;
  return {issuer};
}

std::vector<size_t> Issuers::Coalesced(int32_t kernel) {
  auto launch = launch_of_.find(view_.correlation[TimelineView::At(kernel)]);
  if (launch == launch_of_.end() || launch->second == kNone32) return {};
  int32_t track = view_.track[TimelineView::At(launch->second)];
  auto behind = std::partition_point(issuers_.begin(), issuers_.end(), [&](const Issuer& each) {
    return each.slice < launch->second;
  });
  std::vector<size_t> found;
  for (auto at = behind; at != issuers_.begin();) {
    --at;
    if (at->taken || view_.track[TimelineView::At(at->slice)] != track) break;
    at->taken = true;
    found.push_back(static_cast<size_t>(at - issuers_.begin()));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace debrief::analyses::timeline_collectives
