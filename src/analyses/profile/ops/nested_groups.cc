#include "analyses/profile/ops/nested_groups.h"

#include <algorithm>

namespace debrief::analyses::profile_ops {

using timeline::TimelineView;

namespace {

// Union of what ran for one group, fed in order of start.
struct Covered {
  int64_t end = kNone64;
  int64_t Add(int64_t from, int64_t to) {
    const int64_t added = std::max<int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
    return added;
  }
};

}  // namespace

NestedGroups::NestedGroups(const TimelineView& view, std::span<const int32_t> group, size_t groups)
    : view_(view),
      group_(group),
      times_(groups),
      around_(view.slices.size(), kNone32),
      covered_end_(view.slices.size(), kNone64),
      open_count_(groups, 0) {
  AddHostTime();
}

// A slice stands before those inside of it, so the members around one are always known.
void NestedGroups::AddHostTime() {
  std::vector<int32_t> open;  // members around the slice, outermost first
  for (int32_t slice = 0; slice < view_.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    const int32_t parent = view_.parent[at];
    if (parent != kNone32) {
      const bool is_member = group_[TimelineView::At(parent)] != kNone32;
      around_[at] = is_member ? parent : around_[TimelineView::At(parent)];
    }
    if (group_[at] == kNone32) continue;
    while (!open.empty() && open.back() != around_[at]) Leave(open);
    Enter(slice, open);
  }
  while (!open.empty()) Leave(open);
}

void NestedGroups::Enter(int32_t slice, std::vector<int32_t>& open) {
  const size_t at = TimelineView::At(slice);
  const auto group = static_cast<size_t>(group_[at]);
  GroupTimes& times = times_[group];
  if (times.count++ == 0) times.first = slice;
  if (open_count_[group]++ == 0) times.host_total += view_.duration[at];
  times.host_self += view_.duration[at];
  if (around_[at] != kNone32) {
    const size_t outer = TimelineView::At(around_[at]);
    Covered covered{covered_end_[outer]};
    times_[static_cast<size_t>(group_[outer])].host_self -=
        covered.Add(view_.start[at], view_.end(slice));
    covered_end_[outer] = covered.end;
  }
  open.push_back(slice);
}

void NestedGroups::Leave(std::vector<int32_t>& open) {
  --open_count_[static_cast<size_t>(group_[TimelineView::At(open.back())])];
  open.pop_back();
}

void NestedGroups::AddDeviceTime(std::span<const Launched> works) {
  std::vector<Covered> total(times_.size()), self(times_.size());
  std::vector<size_t> counted(times_.size(), 0);  // by group: the last work that it counted, plus 1
  for (size_t i = 0; i < works.size(); ++i) {
    const Launched& work = works[i];
    if (i > 0 && works[i - 1].device != work.device) {
      std::fill(total.begin(), total.end(), Covered{});
      std::fill(self.begin(), self.end(), Covered{});
    }
    if (work.host == kNone32) continue;
    const bool is_member = group_[TimelineView::At(work.host)] != kNone32;
    int32_t member = is_member ? work.host : Around(work.host);
    for (bool innermost = true; member != kNone32; member = Around(member), innermost = false) {
      const auto group = static_cast<size_t>(group_[TimelineView::At(member)]);
      GroupTimes& times = times_[group];
      if (innermost) times.device_self += self[group].Add(work.start, work.end);
      if (counted[group] == i + 1) continue;
      counted[group] = i + 1;
      ++times.works;
      times.device_total += total[group].Add(work.start, work.end);
    }
  }
}

}  // namespace debrief::analyses::profile_ops
