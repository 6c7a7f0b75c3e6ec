#include "analyses/profile/critical_path/host_runs.h"

#include <algorithm>

namespace debrief::analyses::profile_critical_path {

namespace {

using timeline::TimelineView;

constexpr std::string_view kLoaderPrefix = "enumerate(DataLoader)";

// Whether slices of that name are calls of the data loader; decided once for each name.
bool IsLoading(const TimelineView& view, StringId name, std::vector<uint8_t>& known) {
  constexpr uint8_t kUnknown = 2;
  const auto at = static_cast<size_t>(name);
  if (at >= known.size()) known.resize(at + 1, kUnknown);
  if (known[at] == kUnknown) known[at] = view.model.pools.Text(name).starts_with(kLoaderPrefix);
  return known[at] != 0;
}

// Cuts nested calls of one thread into runs.
class Cutter {
 public:
  Cutter(int32_t track, std::vector<HostRun>& runs, std::vector<size_t>& finals)
      : track_(track), runs_(runs), finals_(finals) {}

  void Open(int32_t slice, Interval time, bool is_loading) {
    CloseUntil(time.begin);
    if (!open_.empty()) {
      Emit(time.begin);
      time.end = std::min(time.end, open_.back().end);
      is_loading |= open_.back().is_loading;
    }
    at_ = time.begin;
    open_.push_back({time.begin, time.end, slice, track_, is_loading});
  }

  void CloseUntil(int64_t time) {
    while (!open_.empty() && open_.back().end <= time) {
      Emit(open_.back().end);
      open_.pop_back();
      if (open_.empty() && !runs_.empty()) finals_.push_back(runs_.size() - 1);
    }
  }

 private:
  // The innermost open call ran until `time`.
  void Emit(int64_t time) {
    if (time <= at_) return;
    HostRun run = open_.back();
    run.begin = at_;
    run.end = time;
    runs_.push_back(run);
    at_ = time;
  }

  int32_t track_;
  std::vector<HostRun>& runs_;
  std::vector<size_t>& finals_;
  std::vector<HostRun> open_;
  int64_t at_ = 0;
};

}  // namespace

HostRuns::HostRuns(const TimelineView& view, Interval window) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  std::vector<uint8_t> loading_names;
  for (size_t row = view.tracks.begin; row < view.tracks.end; ++row) {
    first_run_.push_back(runs_.size());
    if (tracks.kind[row] == view.kinds.thread)
      AddTrack(view, static_cast<int32_t>(row - view.tracks.begin), window, loading_names);
  }
  first_run_.push_back(runs_.size());
  std::stable_sort(finals_.begin(), finals_.end(),
                   [&](size_t a, size_t b) { return runs_[a].end < runs_[b].end; });
}

void HostRuns::AddTrack(const TimelineView& view, int32_t track, Interval window,
                        std::vector<uint8_t>& loading_names) {
  const auto& tracks = view.model.tables.Get<TimelineTrackTable>();
  const size_t row = view.tracks.begin + TimelineView::At(track);
  const auto starts = view.start.subspan(TimelineView::At(tracks.first_slice[row]),
                                         TimelineView::At(tracks.slices[row]));
  auto first = std::lower_bound(starts.begin(), starts.end(), window.begin) - starts.begin();
  Cutter cutter(track, runs_, finals_);
  for (auto i = static_cast<size_t>(first); i < starts.size() && starts[i] < window.end; ++i) {
    const int32_t slice = tracks.first_slice[row] + static_cast<int32_t>(i);
    const size_t at = TimelineView::At(slice);
    if (view.duration[at] <= 0) continue;
    const bool is_loading = IsLoading(view, view.name[at], loading_names);
    const bool is_call = view.kind[at] == view.kinds.op || view.kind[at] == view.kinds.runtime;
    if (!is_call && !is_loading) continue;
    cutter.Open(slice, {view.start[at], view.end(slice)}, is_loading);
    ++calls_;
  }
  cutter.CloseUntil(std::numeric_limits<int64_t>::max());
}

const HostRun* HostRuns::Before(int32_t track, int64_t time) const {
  const auto first =
      runs_.begin() + static_cast<std::ptrdiff_t>(first_run_[TimelineView::At(track)]);
  const auto last =
      runs_.begin() + static_cast<std::ptrdiff_t>(first_run_[TimelineView::At(track) + 1]);
  auto after = std::partition_point(first, last, [&](const HostRun& r) { return r.begin < time; });
  return after == first ? nullptr : &*(after - 1);
}

const HostRun* HostRuns::LastHandover(int32_t track, int64_t time) const {
  auto after = std::partition_point(finals_.begin(), finals_.end(),
                                    [&](size_t i) { return runs_[i].end <= time; });
  if (after == finals_.begin()) return nullptr;
  const HostRun* run = &runs_[*(after - 1)];
  return run->track != track && Before(run->track, time) == run ? run : nullptr;
}

const HostRun* HostRuns::Last() const { return finals_.empty() ? nullptr : &runs_[finals_.back()]; }

int64_t HostRuns::order_edges() const {
  int64_t edges = 0;
  for (size_t track = 0; track + 1 < first_run_.size(); ++track)
    edges +=
        std::max<int64_t>(0, static_cast<int64_t>(first_run_[track + 1] - first_run_[track]) - 1);
  return edges;
}

}  // namespace debrief::analyses::profile_critical_path
