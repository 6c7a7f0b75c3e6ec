#include "model/timeline/host_activity.h"

#include <algorithm>

#include "base/text/strings.h"

namespace debrief::timeline {

namespace {

// Without "cuda", "hip" or "cu": cudaMalloc and hipMalloc are both "Malloc".
std::string_view WithoutVendor(std::string_view name) {
  for (std::string_view prefix : {"cuda", "hip", "cu"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

HostClass ClassOfCall(std::string_view name) {
  name = WithoutVendor(name);
  // Of XPUs: the Unified Runtime (ur...) and Level Zero (ze...).
  if (Contains(name, "Synchronize") || name == "urEventWait" || name == "urQueueFinish")
    return HostClass::kSync;
  // A copy that is not asynchronous returns when it is done; hipMemcpyWithStream is one.
  if (name.starts_with("Memcpy") && !Contains(name, "Async")) return HostClass::kSync;
  if (StartsWithAny(name,
                    {"Malloc", "Free", "HostAlloc", "HostMalloc", "HostFree", "MemAlloc", "MemFree",
                     "MemCreate", "MemMap", "MemUnmap", "MemRelease", "urUSMDeviceAlloc",
                     "urUSMHostAlloc", "urUSMSharedAlloc", "urUSMFree", "zeMemAlloc", "zeMemFree"}))
    return HostClass::kMemoryAllocation;
  return HostClass::kPlain;
}

// Frames are named file(line): function. A frame of eval_frame.py is around every compiled call;
// those of convert_frame.py are there only while something is compiled.
bool IsCompilation(std::string_view name) {
  return name.ends_with("(dynamo_timed)") || Contains(name, "torch/_dynamo/convert_frame.py(");
}

bool IsDataLoading(std::string_view name) {
  return Contains(name, "DataLoader") || Contains(name, "torch/utils/data/dataloader.py(");
}

}  // namespace

HostClass HostClassOf(std::string_view name, bool is_runtime) {
  if (is_runtime) return ClassOfCall(name);
  if (name.starts_with("ProfilerStep")) return HostClass::kStep;
  if (IsDataLoading(name)) return HostClass::kDataLoading;
  if (IsCompilation(name)) return HostClass::kCompile;
  if (name == "aten::item" || name == "aten::_local_scalar_dense") return HostClass::kSync;
  return HostClass::kPlain;
}

HostNames::HostNames(const Model& model)
    : calls_(model.pools, ClassOfCall),
      others_(model.pools, [](std::string_view name) { return HostClassOf(name, false); }) {}

HostActivity::HostActivity(const TimelineView& view, HostNames& names)
    : view_(view), classes_(view.slices.size()), tracks_(view.tracks.size()) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    size_t at = TimelineView::At(slice), track = TimelineView::At(view.track[at]);
    if (tracks.kind[view.tracks.begin + track] != view.kinds.thread) continue;
    HostClass host_class = names.Of(view, slice);
    classes_[at] = static_cast<uint8_t>(host_class);
    if (host_class == HostClass::kPlain) continue;
    AppendToUnion(tracks_[track].times[static_cast<size_t>(host_class)],
                  {view.start[at], view.end(slice)});
    if (host_class == HostClass::kSync) tracks_[track].waits.push_back(slice);
  }
}

bool HostActivity::CoversMost(int32_t track, HostClass host_class, Interval time) const {
  const auto& times = tracks_[TimelineView::At(track)].times[static_cast<size_t>(host_class)];
  return 2 * Length(Clip(times, time)) > time.length();
}

bool HostActivity::CoversMost(int32_t slice, Interval time) const {
  return 2 * Cover(slice, time) > time.length();
}

int32_t HostActivity::WaitingAt(int32_t track, int64_t time) const {
  const auto& waits = tracks_[TimelineView::At(track)].waits;
  auto behind = std::partition_point(waits.begin(), waits.end(), [&](int32_t slice) {
    return view_.start[TimelineView::At(slice)] <= time;
  });
  if (behind == waits.begin()) return kNone32;
  int32_t slice = *(behind - 1);
  auto waits_there = [&] {
    return classes_[TimelineView::At(slice)] == static_cast<uint8_t>(HostClass::kSync) &&
           view_.end(slice) > time;
  };
  while (slice != kNone32 && !waits_there()) slice = view_.parent[TimelineView::At(slice)];
  return slice;
}

int32_t HostActivity::LastBegunBy(int32_t track, int64_t time) const {
  const auto& tracks = view_.model.tables.Get<TimelineTrackTable>();
  size_t row = view_.tracks.begin + TimelineView::At(track);
  auto first = view_.start.begin() + tracks.first_slice[row];
  auto behind = std::upper_bound(first, first + tracks.slices[row], time);
  return behind == first ? kNone32 : static_cast<int32_t>(behind - view_.start.begin()) - 1;
}

int64_t HostActivity::Cover(int32_t slice, Interval time) const {
  int64_t begin = std::max(view_.start[TimelineView::At(slice)], time.begin);
  return std::max<int64_t>(std::min(view_.end(slice), time.end) - begin, 0);
}

int32_t HostActivity::BusiestSlice(int32_t track, Interval time) const {
  int32_t deepest = kNone32, longest = kNone32;
  int64_t longest_cover = 0;
  auto consider = [&](int32_t slice) {
    if (classes_[TimelineView::At(slice)] == static_cast<uint8_t>(HostClass::kStep)) return;
    int64_t cover = Cover(slice, time);
    auto depth = [&](int32_t each) { return view_.depth[TimelineView::At(each)]; };
    if (2 * cover > time.length() && (deepest == kNone32 || depth(slice) > depth(deepest)))
      deepest = slice;
    if (cover > longest_cover) longest = slice, longest_cover = cover;
  };
  int32_t last = LastBegunBy(track, time.begin);
  for (int32_t open = last; open != kNone32; open = view_.parent[TimelineView::At(open)])
    consider(open);
  const auto& tracks = view_.model.tables.Get<TimelineTrackTable>();
  size_t row = view_.tracks.begin + TimelineView::At(track);
  int32_t next = last == kNone32 ? tracks.first_slice[row] : last + 1;
  int32_t end = tracks.first_slice[row] + tracks.slices[row];
  for (; next < end && view_.start[TimelineView::At(next)] < time.end; ++next) consider(next);
  return deepest != kNone32 ? deepest : longest;
}

}  // namespace debrief::timeline
